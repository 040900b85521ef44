// RapidJSON, which parses into a tree without changing the text.
#include <rapidjson/document.h>

#include "msgpack.h"
#include "task.h"

using rapidjson::Value;

static std::string_view text_of(const Value &value) { return {value.GetString(), value.GetStringLength()}; }

Answer partial_tweets(const Json &json) {
    Answer answer;
    rapidjson::Document document;
    document.Parse(json.text, json.length);
    for (const Value &status : document["statuses"].GetArray()) {
        answer.count++;
        answer.add_text(text_of(status["created_at"]));
        answer.add_text(text_of(status["text"]));
        answer.numbers += status["id"].GetUint64();
        const Value &reply = status["in_reply_to_status_id"];
        if (!reply.IsNull()) answer.numbers += reply.GetUint64();
        const Value &user = status["user"];
        answer.numbers += user["id"].GetUint64();
        answer.add_text(text_of(user["screen_name"]));
        answer.numbers += status["retweet_count"].GetUint64() + status["favorite_count"].GetUint64();
    }
    return answer;
}

Answer distinct_user_id(const Json &json) {
    std::vector<uint64_t> ids;
    rapidjson::Document document;
    document.Parse(json.text, json.length);
    for (const Value &status : document["statuses"].GetArray()) {
        ids.push_back(status["user"]["id"].GetUint64());
        auto quoted = status.FindMember("retweeted_status");
        if (quoted != status.MemberEnd()) ids.push_back(quoted->value["user"]["id"].GetUint64());
    }
    return distinct(ids);
}

Answer points(const Json &json) {
    Answer answer;
    rapidjson::Document document;
    document.Parse(json.text, json.length);
    for (const Value &point : document["coordinates"].GetArray()) {
        answer.count++;
        answer.real += point["x"].GetDouble();
        answer.real += point["y"].GetDouble();
        answer.real += point["z"].GetDouble();
    }
    return answer;
}

static void write(const Value &value) {
    switch (value.GetType()) {
        case rapidjson::kNullType: return packed.null();
        case rapidjson::kFalseType: return packed.boolean(false);
        case rapidjson::kTrueType: return packed.boolean(true);
        case rapidjson::kStringType: return packed.text(text_of(value));
        case rapidjson::kNumberType:
            if (value.IsInt64()) return packed.integer(value.GetInt64());
            if (value.IsUint64()) return packed.natural(value.GetUint64());
            return packed.real(value.GetDouble());
        case rapidjson::kArrayType: {
            size_t place = packed.array();
            for (const Value &item : value.GetArray()) write(item);
            return packed.end(place, value.Size());
        }
        case rapidjson::kObjectType: {
            size_t place = packed.object();
            for (const auto &member : value.GetObject()) {
                packed.text(text_of(member.name));
                write(member.value);
            }
            return packed.end(place, value.MemberCount());
        }
    }
}

Answer json2msgpack(const Json &json) {
    packed.begin(json.length);
    rapidjson::Document document;
    document.Parse(json.text, json.length);
    write(document);
    return packed_answer();
}

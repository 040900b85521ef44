// JSON for Modern C++ (nlohmann).
#include <nlohmann/json.hpp>

#include "msgpack.h"
#include "task.h"

using nlohmann::json;

static json parse(const Json &text) { return json::parse(text.text, text.text + text.length); }
static const std::string &text_of(const json &value) { return value.get_ref<const std::string &>(); }

Answer partial_tweets(const Json &text) {
    Answer answer;
    json document = parse(text);
    for (const json &status : document["statuses"]) {
        answer.count++;
        answer.add_text(text_of(status["created_at"]));
        answer.add_text(text_of(status["text"]));
        answer.numbers += status["id"].get<uint64_t>();
        const json &reply = status["in_reply_to_status_id"];
        if (!reply.is_null()) answer.numbers += reply.get<uint64_t>();
        const json &user = status["user"];
        answer.numbers += user["id"].get<uint64_t>();
        answer.add_text(text_of(user["screen_name"]));
        answer.numbers += status["retweet_count"].get<uint64_t>() + status["favorite_count"].get<uint64_t>();
    }
    return answer;
}

Answer distinct_user_id(const Json &text) {
    std::vector<uint64_t> ids;
    json document = parse(text);
    for (const json &status : document["statuses"]) {
        ids.push_back(status["user"]["id"].get<uint64_t>());
        auto quoted = status.find("retweeted_status");
        if (quoted != status.end()) ids.push_back((*quoted)["user"]["id"].get<uint64_t>());
    }
    return distinct(ids);
}

Answer points(const Json &text) {
    Answer answer;
    json document = parse(text);
    for (const json &point : document["coordinates"]) {
        answer.count++;
        answer.real += point["x"].get<double>();
        answer.real += point["y"].get<double>();
        answer.real += point["z"].get<double>();
    }
    return answer;
}

static void write(const json &value) {
    switch (value.type()) {
        case json::value_t::boolean: return packed.boolean(value.get<bool>());
        case json::value_t::string: return packed.text(text_of(value));
        case json::value_t::number_integer: return packed.integer(value.get<int64_t>());
        case json::value_t::number_unsigned: return packed.natural(value.get<uint64_t>());
        case json::value_t::number_float: return packed.real(value.get<double>());
        case json::value_t::array: {
            size_t place = packed.array();
            for (const json &item : value) write(item);
            return packed.end(place, (uint32_t)value.size());
        }
        case json::value_t::object: {
            size_t place = packed.object();
            for (const auto &[key, member] : value.items()) {
                packed.text(key);
                write(member);
            }
            return packed.end(place, (uint32_t)value.size());
        }
        default: return packed.null();
    }
}

Answer json2msgpack(const Json &text) {
    packed.begin(text.length);
    write(parse(text));
    return packed_answer();
}

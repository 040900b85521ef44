// simdjson's document interface: the whole text is parsed first.
#include <simdjson.h>

#include "msgpack.h"
#include "task.h"

using namespace simdjson;

static dom::parser parser;

static dom::element parse(const Json &json) { return parser.parse(json.text, json.length, false); }

Answer partial_tweets(const Json &json) {
    Answer answer;
    for (dom::element status : parse(json)["statuses"]) {
        answer.count++;
        answer.add_text(status["created_at"]);
        answer.add_text(status["text"]);
        answer.numbers += uint64_t(status["id"]);
        dom::element reply = status["in_reply_to_status_id"];
        if (!reply.is_null()) answer.numbers += uint64_t(reply);
        answer.numbers += uint64_t(status["user"]["id"]);
        answer.add_text(status["user"]["screen_name"]);
        answer.numbers += uint64_t(status["retweet_count"]) + uint64_t(status["favorite_count"]);
    }
    return answer;
}

Answer distinct_user_id(const Json &json) {
    std::vector<uint64_t> ids;
    for (dom::element status : parse(json)["statuses"]) {
        ids.push_back(status["user"]["id"]);
        dom::element quoted;
        if (status["retweeted_status"].get(quoted) == SUCCESS) ids.push_back(quoted["user"]["id"]);
    }
    return distinct(ids);
}

Answer points(const Json &json) {
    Answer answer;
    for (dom::element point : parse(json)["coordinates"]) {
        answer.count++;
        answer.real += double(point["x"]);
        answer.real += double(point["y"]);
        answer.real += double(point["z"]);
    }
    return answer;
}

static void write(dom::element value) {
    switch (value.type()) {
        case dom::element_type::ARRAY: {
            size_t place = packed.array();
            uint32_t count = 0;
            for (dom::element item : dom::array(value)) {
                write(item);
                count++;
            }
            return packed.end(place, count);
        }
        case dom::element_type::OBJECT: {
            size_t place = packed.object();
            uint32_t count = 0;
            for (dom::key_value_pair field : dom::object(value)) {
                packed.text(field.key);
                write(field.value);
                count++;
            }
            return packed.end(place, count);
        }
        case dom::element_type::INT64: return packed.integer(int64_t(value));
        case dom::element_type::UINT64: return packed.natural(uint64_t(value));
        case dom::element_type::DOUBLE: return packed.real(double(value));
        case dom::element_type::STRING: return packed.text(value);
        case dom::element_type::BOOL: return packed.boolean(bool(value));
        case dom::element_type::NULL_VALUE: return packed.null();
    }
}

Answer json2msgpack(const Json &json) {
    packed.begin(json.length);
    write(parse(json));
    return packed_answer();
}

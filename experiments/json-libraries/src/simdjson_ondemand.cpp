// simdjson's On-Demand interface: parses values on access, in the order of the text.
#include <simdjson.h>

#include "msgpack.h"
#include "task.h"

using namespace simdjson;

static ondemand::parser parser;

static padded_string_view view(const Json &json) { return padded_string_view(json.text, json.length, json.capacity); }

Answer partial_tweets(const Json &json) {
    Answer answer;
    ondemand::document document = parser.iterate(view(json));
    for (ondemand::object status : document["statuses"]) {
        answer.count++;
        answer.add_text(status["created_at"]);
        answer.numbers += uint64_t(status["id"]);
        answer.add_text(status["text"]);
        ondemand::value reply = status["in_reply_to_status_id"];
        if (!reply.is_null()) answer.numbers += uint64_t(reply);
        ondemand::object user = status["user"];
        answer.numbers += uint64_t(user["id"]);
        answer.add_text(user["screen_name"]);
        answer.numbers += uint64_t(status["retweet_count"]) + uint64_t(status["favorite_count"]);
    }
    return answer;
}

Answer distinct_user_id(const Json &json) {
    std::vector<uint64_t> ids;
    ondemand::document document = parser.iterate(view(json));
    for (ondemand::object status : document["statuses"]) {
        ids.push_back(status["user"]["id"]);
        ondemand::object quoted;
        if (status["retweeted_status"].get(quoted) == SUCCESS) ids.push_back(quoted["user"]["id"]);
    }
    return distinct(ids);
}

Answer points(const Json &json) {
    Answer answer;
    ondemand::document document = parser.iterate(view(json));
    for (ondemand::object point : document["coordinates"]) {
        answer.count++;
        answer.real += double(point["x"]);
        answer.real += double(point["y"]);
        answer.real += double(point["z"]);
    }
    return answer;
}

static void write(ondemand::value value);

static void write_array(ondemand::array array) {
    size_t place = packed.array();
    uint32_t count = 0;
    for (ondemand::value item : array) {
        write(item);
        count++;
    }
    packed.end(place, count);
}

static void write_object(ondemand::object object) {
    size_t place = packed.object();
    uint32_t count = 0;
    for (auto field : object) {
        packed.text(field.unescaped_key());
        write(field.value());
        count++;
    }
    packed.end(place, count);
}

static void write_number(ondemand::number number) {
    switch (number.get_number_type()) {
        case ondemand::number_type::signed_integer: return packed.integer(number.get_int64());
        case ondemand::number_type::unsigned_integer: return packed.natural(number.get_uint64());
        default: return packed.real(number.get_double());
    }
}

static void write(ondemand::value value) {
    switch (value.type()) {
        case ondemand::json_type::array: return write_array(value.get_array());
        case ondemand::json_type::object: return write_object(value.get_object());
        case ondemand::json_type::number: return write_number(value.get_number());
        case ondemand::json_type::string: return packed.text(value.get_string());
        case ondemand::json_type::boolean: return packed.boolean(value.get_bool());
        case ondemand::json_type::null: return packed.null();
    }
}

Answer json2msgpack(const Json &json) {
    packed.begin(json.length);
    ondemand::document document = parser.iterate(view(json));
    write(document.get_value());
    return packed_answer();
}

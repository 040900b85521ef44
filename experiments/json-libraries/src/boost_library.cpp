// Boost.JSON, compiled from its own sources, with the monotonic resource that its authors recommend for parsing.
#include <boost/json/src.hpp>

#include "msgpack.h"
#include "task.h"

namespace json = boost::json;

static json::value parse(const Json &text, json::monotonic_resource &memory) {
    return json::parse({text.text, text.length}, &memory);
}

static std::string_view text_of(const json::value &value) {
    const json::string &text = value.get_string();
    return {text.data(), text.size()};
}

static uint64_t number(const json::value &value) { return value.to_number<uint64_t>(); }

Answer partial_tweets(const Json &text) {
    Answer answer;
    json::monotonic_resource memory;
    json::value document = parse(text, memory);
    for (const json::value &item : document.at("statuses").get_array()) {
        const json::object &status = item.get_object();
        answer.count++;
        answer.add_text(text_of(status.at("created_at")));
        answer.add_text(text_of(status.at("text")));
        answer.numbers += number(status.at("id"));
        const json::value &reply = status.at("in_reply_to_status_id");
        if (!reply.is_null()) answer.numbers += number(reply);
        const json::object &user = status.at("user").get_object();
        answer.numbers += number(user.at("id"));
        answer.add_text(text_of(user.at("screen_name")));
        answer.numbers += number(status.at("retweet_count")) + number(status.at("favorite_count"));
    }
    return answer;
}

Answer distinct_user_id(const Json &text) {
    std::vector<uint64_t> ids;
    json::monotonic_resource memory;
    json::value document = parse(text, memory);
    for (const json::value &item : document.at("statuses").get_array()) {
        const json::object &status = item.get_object();
        ids.push_back(number(status.at("user").at("id")));
        const json::value *quoted = status.if_contains("retweeted_status");
        if (quoted != nullptr) ids.push_back(number(quoted->at("user").at("id")));
    }
    return distinct(ids);
}

Answer points(const Json &text) {
    Answer answer;
    json::monotonic_resource memory;
    json::value document = parse(text, memory);
    for (const json::value &item : document.at("coordinates").get_array()) {
        const json::object &point = item.get_object();
        answer.count++;
        answer.real += point.at("x").to_number<double>();
        answer.real += point.at("y").to_number<double>();
        answer.real += point.at("z").to_number<double>();
    }
    return answer;
}

static void write(const json::value &value) {
    switch (value.kind()) {
        case json::kind::null: return packed.null();
        case json::kind::bool_: return packed.boolean(value.get_bool());
        case json::kind::int64: return packed.integer(value.get_int64());
        case json::kind::uint64: return packed.natural(value.get_uint64());
        case json::kind::double_: return packed.real(value.get_double());
        case json::kind::string: return packed.text(text_of(value));
        case json::kind::array: {
            size_t place = packed.array();
            for (const json::value &item : value.get_array()) write(item);
            return packed.end(place, (uint32_t)value.get_array().size());
        }
        case json::kind::object: {
            size_t place = packed.object();
            for (const json::key_value_pair &field : value.get_object()) {
                packed.text({field.key().data(), field.key().size()});
                write(field.value());
            }
            return packed.end(place, (uint32_t)value.get_object().size());
        }
    }
}

Answer json2msgpack(const Json &text) {
    packed.begin(text.length);
    json::monotonic_resource memory;
    write(parse(text, memory));
    return packed_answer();
}

// simdjson's On-Demand interface: values are parsed when they are asked for, in the order of the text.
#include <simdjson.h>

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

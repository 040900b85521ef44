// simdjson's document interface: the whole text is parsed first.
#include <simdjson.h>

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

// The four tasks that every library does, and what they answer. Each library's file defines the four functions.
#ifndef FATHOM_EXPERIMENTS_JSON_TASK_H
#define FATHOM_EXPERIMENTS_JSON_TASK_H

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <string_view>
#include <vector>

// A text that is followed by at least 64 bytes that may be read, as simdjson wants it.
struct Json {
    const char *text;
    size_t length;
    size_t capacity;
};

// What a task found. Every library must find the same.
struct Answer {
    uint64_t count = 0;
    uint64_t numbers = 0;
    uint64_t characters = 0;
    double real = 0;

    void add_text(std::string_view text) { characters += text.size() + (text.empty() ? 0 : (uint8_t)text.back()); }
};

// Of each status: text, times, its writer's name, and five numbers. `numbers` is their sum.
Answer partial_tweets(const Json &json);

// How many different users wrote or were quoted. `numbers` is the sum of their ids.
Answer distinct_user_id(const Json &json);

// The sum of all coordinates.
Answer points(const Json &json);

// The whole text as MessagePack, into memory that is kept. `count` is the number of values, `numbers` that of bytes.
Answer json2msgpack(const Json &json);

inline Answer distinct(std::vector<uint64_t> &ids) {
    Answer answer;
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    answer.count = ids.size();
    for (uint64_t id : ids) answer.numbers += id;
    return answer;
}

#endif

// The four tasks of every library, and their answers. Each library's file defines the four functions.
#ifndef FATHOM_EXPERIMENTS_JSON_TASK_H
#define FATHOM_EXPERIMENTS_JSON_TASK_H

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <string_view>
#include <vector>

// A text followed by at least 64 readable bytes, as simdjson requires.
struct Json {
    const char *text;
    size_t length;
    size_t capacity;
};

// The result of a task. It must be the same for every library.
struct Answer {
    uint64_t count = 0;
    uint64_t numbers = 0;
    uint64_t characters = 0;
    double real = 0;

    void add_text(std::string_view text) { characters += text.size() + (text.empty() ? 0 : (uint8_t)text.back()); }
};

// For each status: text, times, the name of its author, and five numbers. `numbers` is their sum.
Answer partial_tweets(const Json &json);

// Counts the different users who wrote or were quoted. `numbers` is the sum of their ids.
Answer distinct_user_id(const Json &json);

// Adds up all coordinates.
Answer points(const Json &json);

// Writes the whole text as MessagePack into a kept buffer. `count` is the number of values, `numbers` of bytes.
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

// Repeats one task with the library that this program was built with, and prints the speed.
//
// Usage: PROGRAM partial_tweets|distinct_user_id|points|json2msgpack FILE
#include "measure.h"
#include "msgpack.h"
#include "task.h"

static Json read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == nullptr) {
        perror(path);
        exit(1);
    }
    std::vector<char> bytes;
    char buffer[65536];
    for (size_t read; (read = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        bytes.insert(bytes.end(), buffer, buffer + read);
    }
    fclose(file);
    size_t capacity = bytes.size() + 64;
    char *text = (char *)calloc(capacity, 1);
    if (text == nullptr) exit(1);
    memcpy(text, bytes.data(), bytes.size());
    return Json{text, bytes.size(), capacity};
}

// A checksum: two different answers almost always have different numbers.
static uint64_t checksum(const Answer &answer) {
    uint64_t mixed = answer.count * 1000003 + answer.numbers;
    mixed = mixed * 1000003 + answer.characters;
    mixed = mixed * 1000003 + (uint64_t)(answer.real * 1e6);
    return mixed % 999999937;
}

int main(int count, char **arguments) {
    const char *name = count == 3 ? arguments[1] : "";
    Answer (*task)(const Json &) = !strcmp(name, "partial_tweets")     ? partial_tweets
                                   : !strcmp(name, "distinct_user_id") ? distinct_user_id
                                   : !strcmp(name, "points")           ? points
                                   : !strcmp(name, "json2msgpack")     ? json2msgpack
                                                                       : nullptr;
    if (task == nullptr) {
        fprintf(stderr, "usage: PROGRAM partial_tweets|distinct_user_id|points|json2msgpack FILE\n");
        return 2;
    }
    Json json = read_file(arguments[2]);
    Answer answer = task(json);
    check(answer.count > 0, "something is found");
    for (char byte : packed.written()) answer.characters += (uint8_t)byte;
    print_speed("parse", repeat(0.1, [&] { keep_value(task(json).count); }), (double)json.length);
    printf("found %llu items\n", (unsigned long long)answer.count);
    printf("answer %llu checksum\n", (unsigned long long)checksum(answer));
}

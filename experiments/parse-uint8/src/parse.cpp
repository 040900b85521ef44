// Parses 20,000 strings of the numbers 0 to 255: with std::from_chars, a plain loop, four bytes at once, and forms in
// between that show the causes of the cost of std::from_chars.
//
// Usage: parse random|sequential           times all methods
//        parse random|sequential METHOD    passes the strings once, for a simulator that counts instructions
// Methods: from_chars bounded wide plain unbounded checked swar
//
// The methods take turns, so disturbances affect all of them, and the best pass of all turns is printed.
#include <charconv>
#include <string>
#include <vector>

#include "measure.h"

// Each function returns true and sets `number` if all `length` characters are digits and the number is at most 255.
// At least four bytes are readable at `text`.

static inline bool parse_from_chars(const char *text, size_t length, uint8_t *number) {
    std::from_chars_result result = std::from_chars(text, text + length, *number);
    return result.ec == std::errc() && result.ptr == text + length;
}

// The same, but checks first that there are at most three characters.
static inline bool parse_bounded(const char *text, size_t length, uint8_t *number) {
    if (length == 0 || length > 3) return false;
    std::from_chars_result result = std::from_chars(text, text + length, *number);
    return result.ec == std::errc() && result.ptr == text + length;
}

// The library parses 32 bits, which three digits can't overflow; the range is checked at the end.
static inline bool parse_wide(const char *text, size_t length, uint8_t *number) {
    uint32_t wide;
    std::from_chars_result result = std::from_chars(text, text + length, wide);
    *number = (uint8_t)wide;
    return result.ec == std::errc() && result.ptr == text + length && wide <= 255;
}

// One loop in a type that can't overflow, and one check at the end.
static inline bool parse_plain(const char *text, size_t length, uint8_t *number) {
    if (length == 0 || length > 3) return false;
    uint32_t value = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t digit = (uint8_t)(text[i] - '0');
        if (digit > 9) return false;
        value = value * 10 + digit;
    }
    *number = (uint8_t)value;
    return value <= 255;
}

// The same loop, but checks only at its end that there are at most three characters.
static inline bool parse_unbounded(const char *text, size_t length, uint8_t *number) {
    if (length == 0) return false;
    uint32_t value = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t digit = (uint8_t)(text[i] - '0');
        if (digit > 9) return false;
        value = value * 10 + digit;
    }
    *number = (uint8_t)value;
    return length <= 3 && value <= 255;
}

// The same loop in 8 bits, with an overflow check for every digit.
static inline bool parse_checked(const char *text, size_t length, uint8_t *number) {
    if (length == 0) return false;
    uint8_t value = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t digit = (uint8_t)(text[i] - '0');
        if (digit > 9) return false;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) return false;
    }
    *number = value;
    return true;
}

// All characters at once in a 32-bit word. Shifting by the missing length puts the last digit into the highest byte and
// zeros before the first; one multiplication then adds 100, 10 and 1 times the digits in that byte. No branch depends
// on the text.
static inline bool parse_swar(const char *text, size_t length, uint8_t *number) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first character is the lowest byte");
    if (length == 0 || length > 3) return false;
    uint32_t digits;
    memcpy(&digits, text, sizeof digits);
    digits = (digits ^ 0x30303030u) << (32 - 8 * length);
    uint32_t not_digits = (digits | (digits + 0x06060606u)) & 0xF0F0F0F0u;
    *number = (uint8_t)((digits * (100u << 16 | 10u << 8 | 1u)) >> 24);
    // As a big-endian word, the digits compare like the number.
    return not_digits == 0 && __builtin_bswap32(digits) <= 0x00020505u;
}

struct Text {
    char characters[4];
    uint32_t length;
};

static Text write_text(const std::string &text) {
    Text written = {{0, 0, 0, 0}, (uint32_t)text.size()};
    memcpy(written.characters, text.data(), text.size() < 4 ? text.size() : 4);
    return written;
}

static std::vector<Text> make_texts(bool random_order) {
    std::vector<Text> texts;
    uint64_t random = 1;
    for (size_t i = 0; i < 20000; i++) {
        uint64_t number = random_order ? random_below(&random, 256) : i % 256;
        texts.push_back(write_text(std::to_string(number)));
    }
    return texts;
}

typedef bool (*Parse)(const char *text, size_t length, uint8_t *number);

// Tries all texts of one to three characters from the digits and from characters close to them in value or in bits.
template <Parse parse> static void check_parse() {
    static const char characters[] = "0123456789/: -a\xb0\xff";
    const size_t count = sizeof characters - 1;
    for (size_t length = 1; length <= 3; length++) {
        for (size_t word = 0; word < count * count * count; word++) {
            char text[4] = {characters[word % count], characters[word / count % count],
                            characters[word / count / count], '7'};
            bool digits = true;
            unsigned expected = 0;
            for (size_t i = 0; i < length; i++) {
                digits = digits && text[i] >= '0' && text[i] <= '9';
                expected = expected * 10 + (unsigned)(text[i] - '0');
            }
            uint8_t number = 0;
            bool right = parse(text, length, &number);
            if (right != (digits && expected <= 255) || (right && number != expected)) check(false, "a parsed text");
        }
    }
}

template <Parse parse> __attribute__((noinline)) static uint64_t parse_all(const std::vector<Text> &texts) {
    uint64_t sum = 0;
    for (const Text &text : texts) {
        uint8_t number;
        if (!parse(text.characters, text.length, &number)) return 0;
        sum += number;
    }
    return sum;
}

static const struct {
    const char *name;
    void (*check)();
    uint64_t (*parse_all)(const std::vector<Text> &);
} METHODS[] = {{"from_chars", check_parse<parse_from_chars>, parse_all<parse_from_chars>},
               {"bounded", check_parse<parse_bounded>, parse_all<parse_bounded>},
               {"wide", check_parse<parse_wide>, parse_all<parse_wide>},
               {"plain", check_parse<parse_plain>, parse_all<parse_plain>},
               {"unbounded", check_parse<parse_unbounded>, parse_all<parse_unbounded>},
               {"checked", check_parse<parse_checked>, parse_all<parse_checked>},
               {"swar", check_parse<parse_swar>, parse_all<parse_swar>}};
enum { COUNT = sizeof METHODS / sizeof *METHODS, TURNS = 25 };
static const double TURN_SECONDS = 0.012;

// Prints the best pass of each method.
static void measure(const std::vector<Text> &texts) {
    double best[COUNT];
    for (double &seconds : best) seconds = 1e9;
    for (const auto &method : METHODS) method.check();
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < COUNT; i++) {
            double end = clock_seconds() + TURN_SECONDS;
            for (double before = clock_seconds(), after = 0; after < end; before = after) {
                keep_value(METHODS[i].parse_all(texts));
                after = clock_seconds();
                if (after - before < best[i]) best[i] = after - before;
            }
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        printf("%s_max %.5g M/s\n", METHODS[i].name, (double)texts.size() / best[i] * 1e-6);
    }
}

int main(int count, char **arguments) {
    bool random = count > 1 && !strcmp(arguments[1], "random");
    if (random || (count > 1 && !strcmp(arguments[1], "sequential"))) {
        std::vector<Text> texts = make_texts(random);
        if (count == 2) {
            measure(texts);
            return 0;
        }
        for (const auto &method : METHODS) {
            if (strcmp(arguments[2], method.name)) continue;
            keep_value(method.parse_all(texts));
            return 0;
        }
    }
    fprintf(stderr, "usage: parse random|sequential [METHOD]\n");
    return 2;
}

// Parses 20,000 strings of the numbers 0 to 255: with std::from_chars, a plain loop, four bytes at once, and forms in
// between that show what the first one pays for.
//
// Usage: parse METHOD random|sequential|threedigits [once]
//
// `once` passes the strings a single time, for a simulator that counts the instructions of `parse_all`.
// Methods: from_chars from_chars_bounded from_chars_wide plain plain_unbounded plain_checked plain_unlikely straight
// swar
#include <charconv>
#include <string>
#include <vector>

#include "measure.h"

// Each returns true and sets `number` when all of the `length` characters are digits and the number is at most 255.
// At least four bytes can be read at `text`.

static inline bool parse_from_chars(const char *text, size_t length, uint8_t *number) {
    std::from_chars_result result = std::from_chars(text, text + length, *number);
    return result.ec == std::errc() && result.ptr == text + length;
}

// The same, told first that three characters are the most there can be.
static inline bool parse_from_chars_bounded(const char *text, size_t length, uint8_t *number) {
    if (length == 0 || length > 3) return false;
    std::from_chars_result result = std::from_chars(text, text + length, *number);
    return result.ec == std::errc() && result.ptr == text + length;
}

// The library parses 32 bits, which three digits can't overflow; the range is checked at the end.
static inline bool parse_from_chars_wide(const char *text, size_t length, uint8_t *number) {
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

// The same loop, which is told only at its end that three characters are the most there can be.
static inline bool parse_plain_unbounded(const char *text, size_t length, uint8_t *number) {
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
static inline bool parse_plain_checked(const char *text, size_t length, uint8_t *number) {
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

// What libstdc++ 12 does: no check as long as the bits suffice (two digits for 8 bits), an overflow check from then on
// that is marked as unlikely.
static inline bool parse_plain_unlikely(const char *text, size_t length, uint8_t *number) {
    if (length == 0) return false;
    uint8_t value = 0;
    int spare_bits = 8;
    for (size_t i = 0; i < length; i++) {
        uint8_t digit = (uint8_t)(text[i] - '0');
        if (digit > 9) return false;
        spare_bits -= 4;
        if (__builtin_expect(spare_bits >= 0, 1)) {
            value = (uint8_t)(value * 10 + digit);
        } else if (__builtin_expect(__builtin_mul_overflow(value, 10, &value) ||
                                        __builtin_add_overflow(value, digit, &value), 0)) {
            return false;
        }
    }
    *number = value;
    return true;
}

// No loop: one case for each length. One branch that is hard to predict is left.
static inline bool parse_straight(const char *text, size_t length, uint8_t *number) {
    uint32_t a = (uint8_t)(text[0] - '0'), b = (uint8_t)(text[1] - '0'), c = (uint8_t)(text[2] - '0'), value;
    switch (length) {
    case 1:
        *number = (uint8_t)a;
        return a <= 9;
    case 2:
        *number = (uint8_t)(10 * a + b);
        return a <= 9 && b <= 9;
    case 3:
        value = 100 * a + 10 * b + c;
        *number = (uint8_t)value;
        return a <= 9 && b <= 9 && c <= 9 && value <= 255;
    default:
        return false;
    }
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
    // As a big-endian word the digits compare like the number that they write.
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

static std::vector<Text> make_texts(const char *kind) {
    std::vector<Text> texts;
    uint64_t random = 1;
    for (size_t i = 0; i < 20000; i++) {
        uint64_t number = !strcmp(kind, "random")        ? random_below(&random, 256)
                          : !strcmp(kind, "sequential")  ? i % 256
                          : !strcmp(kind, "threedigits") ? 100 + random_below(&random, 156)
                                                         : 1000;
        if (number == 1000) return {};
        texts.push_back(write_text(std::to_string(number)));
    }
    return texts;
}

typedef bool (*Parse)(const char *text, size_t length, uint8_t *number);

// Tries all texts of one to three characters out of the digits and what is close to them in value or in bits.
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

template <Parse parse> static void measure(const std::vector<Text> &texts, bool once) {
    check_parse<parse>();
    if (once) {
        keep_value(parse_all<parse>(texts));
        return;
    }
    Timing timing = repeat(0.25, [&] { keep_value(parse_all<parse>(texts)); });
    printf("parse_max %.5g M/s\n", (double)texts.size() / timing.minimum * 1e-6);
    printf("parse_median %.5g M/s\n", (double)texts.size() / timing.median * 1e-6);
}

static const struct {
    const char *name;
    void (*measure)(const std::vector<Text> &, bool once);
} METHODS[] = {{"from_chars", measure<parse_from_chars>},
               {"from_chars_bounded", measure<parse_from_chars_bounded>},
               {"from_chars_wide", measure<parse_from_chars_wide>},
               {"plain", measure<parse_plain>},
               {"plain_unbounded", measure<parse_plain_unbounded>},
               {"plain_checked", measure<parse_plain_checked>},
               {"plain_unlikely", measure<parse_plain_unlikely>},
               {"straight", measure<parse_straight>},
               {"swar", measure<parse_swar>}};

int main(int count, char **arguments) {
    std::vector<Text> texts = make_texts(count >= 3 ? arguments[2] : "");
    for (const auto &method : METHODS) {
        if (texts.empty() || strcmp(arguments[1], method.name)) continue;
        method.measure(texts, count > 3 && !strcmp(arguments[3], "once"));
        return 0;
    }
    fprintf(stderr, "usage: parse METHOD random|sequential|threedigits [once]\n");
    return 2;
}

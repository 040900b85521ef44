// Counts the windows of 8 bytes in 1 MiB whose polynomial hash has a given value: with a hash of each window from
// scratch, with a rolling hash, and with faster forms of it.
//
// Usage: rolling naive|fixed|rolling|twoahead|fourahead|lanes|doubling|pairs [once]
//
// `pairs` exists if the program is compiled for AVX2.
//
// The hash of bytes c0..c7 is c0*B^7 + c1*B^6 + ... + c7 modulo 2^32, with B = 31.
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "measure.h"

static const size_t SIZE = 1 << 20, WINDOW = 8;
static const uint32_t B = 31;

static constexpr uint32_t power(size_t exponent) { return exponent == 0 ? 1 : B * power(exponent - 1); }

static inline uint32_t hash_window(const uint8_t *bytes) {
    uint32_t hash = 0;
    for (size_t i = 0; i < WINDOW; i++) hash = hash * B + bytes[i];
    return hash;
}

static volatile size_t window_at_run_time = WINDOW;

extern "C" {

// Every window from scratch: 8 multiplications per byte. The length of the window is known only at run time, like the
// argument of a function.
__attribute__((noinline)) size_t count_naive(const uint8_t *bytes, size_t size, uint32_t target) {
    size_t count = 0, window = window_at_run_time;
    for (size_t i = 0; i + window <= size; i++) {
        uint32_t hash = 0;
        for (size_t j = 0; j < window; j++) hash = hash * B + bytes[i + j];
        count += hash == target;
    }
    return count;
}

// The same with a length that the compiler knows: it can unroll the loop and process several windows at once.
__attribute__((noinline)) size_t count_fixed(const uint8_t *bytes, size_t size, uint32_t target) {
    size_t count = 0;
    for (size_t i = 0; i + WINDOW <= size; i++) count += hash_window(bytes + i) == target;
    return count;
}

// Each hash from the previous one. The chain is a multiplication and an addition per byte.
__attribute__((noinline)) size_t count_rolling(const uint8_t *bytes, size_t size, uint32_t target) {
    uint32_t hash = hash_window(bytes);
    size_t count = hash == target;
    for (size_t i = WINDOW; i < size; i++) {
        hash = hash * B + bytes[i] - power(WINDOW) * bytes[i - WINDOW];
        count += hash == target;
    }
    return count;
}

// The contribution of the byte that enters at `i` minus that of the byte that leaves. It doesn't depend on the hash, so
// it is off the chain.
static inline uint32_t change(const uint8_t *bytes, size_t i) {
    return bytes[i] - power(WINDOW) * bytes[i - WINDOW];
}

// Computes the next two hashes from the current one: the chain advances two bytes per multiplication.
__attribute__((noinline)) size_t count_twoahead(const uint8_t *bytes, size_t size, uint32_t target) {
    uint32_t hash = hash_window(bytes);
    size_t count = hash == target, i = WINDOW;
    for (; i + 2 <= size; i += 2) {
        uint32_t first = change(bytes, i), second = first * B + change(bytes, i + 1);
        count += hash * B + first == target;
        hash = hash * power(2) + second;
        count += hash == target;
    }
    for (; i < size; i++) {
        hash = hash * B + change(bytes, i);
        count += hash == target;
    }
    return count;
}

// Four bytes per multiplication of the chain.
__attribute__((noinline)) size_t count_fourahead(const uint8_t *bytes, size_t size, uint32_t target) {
    uint32_t hash = hash_window(bytes);
    size_t count = hash == target, i = WINDOW;
    for (; i + 4 <= size; i += 4) {
        uint32_t first = change(bytes, i), second = first * B + change(bytes, i + 1);
        uint32_t third = second * B + change(bytes, i + 2), fourth = third * B + change(bytes, i + 3);
        count += hash * B + first == target;
        count += hash * power(2) + second == target;
        count += hash * power(3) + third == target;
        hash = hash * power(4) + fourth;
        count += hash == target;
    }
    for (; i < size; i++) {
        hash = hash * B + change(bytes, i);
        count += hash == target;
    }
    return count;
}

// Four rolling hashes at once, each over a quarter of the text: four independent chains.
__attribute__((noinline)) size_t count_lanes(const uint8_t *bytes, size_t size, uint32_t target) {
    size_t windows = size - WINDOW + 1, quarter = windows / 4;
    const uint8_t *a = bytes, *b = a + quarter, *c = b + quarter, *d = c + quarter;
    uint32_t hash_a = hash_window(a), hash_b = hash_window(b), hash_c = hash_window(c), hash_d = hash_window(d);
    size_t count = 0;
    for (size_t i = 0; i < quarter; i++) {
        count += (hash_a == target) + (hash_b == target) + (hash_c == target) + (hash_d == target);
        if (i + 1 == quarter) break;
        hash_a = hash_a * B + change(a, i + WINDOW);
        hash_b = hash_b * B + change(b, i + WINDOW);
        hash_c = hash_c * B + change(c, i + WINDOW);
        hash_d = hash_d * B + change(d, i + WINDOW);
    }
    for (size_t i = 4 * quarter; i < windows; i++) count += hash_window(bytes + i) == target;
    return count;
}

// No chain: hashes of 2 bytes from bytes, of 4 bytes from hashes of 2, of 8 from hashes of 4. Three multiplications per
// byte, in loops that a compiler turns into vector instructions.
__attribute__((noinline)) size_t count_doubling(const uint8_t *bytes, size_t size, uint32_t target) {
    enum { BLOCK = 1024 };
    static_assert(WINDOW == 8, "three doublings");
    uint32_t twos[BLOCK + 6], fours[BLOCK + 4];
    size_t windows = size - WINDOW + 1, done = 0;
    uint32_t count = 0;
    for (; done + BLOCK <= windows; done += BLOCK) {
        const uint8_t *block = bytes + done;
        for (size_t i = 0; i < BLOCK + 6; i++) twos[i] = block[i] * B + block[i + 1];
        for (size_t i = 0; i < BLOCK + 4; i++) fours[i] = twos[i] * power(2) + twos[i + 2];
        for (size_t i = 0; i < BLOCK; i++) count += fours[i] * power(4) + fours[i + 4] == target;
    }
    size_t total = count;
    for (; done < windows; done++) total += hash_window(bytes + done) == target;
    return total;
}

#ifdef __AVX2__
// Hashes of the 4 bytes at `bytes`, `bytes` + 4, ... + 28: two instructions that multiply neighbors and add them up.
static inline __m256i hash_fours(const uint8_t *bytes) {
    __m256i text = _mm256_loadu_si256((const __m256i *)bytes);
    __m256i twos = _mm256_maddubs_epi16(text, _mm256_set1_epi16(1 << 8 | B));
    return _mm256_madd_epi16(twos, _mm256_set1_epi32(1 << 16 | (int)power(2)));
}

// The doubling form without its intermediate arrays: the first two doublings of 8 windows are one instruction each, and
// only the third needs a multiplication of 32 bits.
__attribute__((noinline)) size_t count_pairs(const uint8_t *bytes, size_t size, uint32_t target) {
    const __m256i wanted = _mm256_set1_epi32((int)target), factor = _mm256_set1_epi32((int)power(4));
    __m256i counts = _mm256_setzero_si256();
    size_t windows = size - WINDOW + 1, done = 0;
    // 32 windows: those that begin at 0, 4, ... 28, then those at 1, 5, ... 29, and so on. The last one reads 39 bytes.
    for (; done + 39 <= size; done += 32) {
        for (size_t phase = 0; phase < 4; phase++) {
            const uint8_t *from = bytes + done + phase;
            __m256i hashes = _mm256_add_epi32(_mm256_mullo_epi32(hash_fours(from), factor), hash_fours(from + 4));
            counts = _mm256_sub_epi32(counts, _mm256_cmpeq_epi32(hashes, wanted));
        }
    }
    uint32_t parts[8];
    _mm256_storeu_si256((__m256i *)parts, counts);
    size_t total = 0;
    for (uint32_t part : parts) total += part;
    for (; done < windows; done++) total += hash_window(bytes + done) == target;
    return total;
}
#endif
}

typedef size_t (*Counter)(const uint8_t *bytes, size_t size, uint32_t target);
static const struct {
    const char *name;
    Counter count;
} COUNTERS[] = {{"naive", count_naive},       {"fixed", count_fixed},         {"rolling", count_rolling},
                {"twoahead", count_twoahead}, {"fourahead", count_fourahead}, {"lanes", count_lanes},
#ifdef __AVX2__
                {"pairs", count_pairs},
#endif
                {"doubling", count_doubling}};

// Compares a form with the naive one on random texts of every length up to 100, and on a long one. The texts have only
// two letters, so that windows are found.
static void check_counter(Counter counter) {
    uint8_t text[5000];
    uint64_t random = 3;
    for (uint8_t &byte : text) byte = (uint8_t)(next_random(&random) & 1);
    uint32_t target = hash_window(text + 10);
    for (size_t size = WINDOW + 3; size <= 100; size++) {
        check(counter(text, size, target) == count_naive(text, size, target), "the count in a short text");
    }
    check(counter(text, sizeof text, target) == count_naive(text, sizeof text, target), "the count in a long text");
    check(count_naive(text, sizeof text, target) > 1, "windows are found");
}

int main(int count, char **arguments) {
    Counter counter = nullptr;
    for (const auto &known : COUNTERS) {
        if (count > 1 && !strcmp(arguments[1], known.name)) counter = known.count;
    }
    if (counter == nullptr) {
        fprintf(stderr, "usage: rolling naive|fixed|rolling|twoahead|fourahead|lanes|doubling|pairs [once]\n");
        return 2;
    }
    uint8_t *bytes = (uint8_t *)malloc(SIZE);
    if (bytes == nullptr) return 1;
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)(i % 256);
    // Counting instructions needs one pass and nothing else.
    if (count > 2 && !strcmp(arguments[2], "once")) {
        keep_value(counter(bytes, SIZE, 0));
        return 0;
    }
    check_counter(counter);
    print_speed("hash", repeat(0.4, [&] { keep_value(counter(bytes, SIZE, 0)); }), (double)SIZE);
}

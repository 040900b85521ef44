// Shuffles arrays of 16 KiB to 64 MiB (Fisher-Yates, 8-byte elements) and prints the time per element.
//
// Usage: shuffle small|huge [largest size in MiB]
//
// `huge` requests 2 MiB pages from the kernel, which avoids most page table lookups.
// The sizes take turns, so disturbances affect all of them; a turn of a small array is many shuffles. The program prints
// the best shuffle of all turns: at least five of each size.
#include <sys/mman.h>

#include <vector>

#include "measure.h"

static void shuffle(uint64_t *values, size_t count, uint64_t *random) {
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(random, i);
        uint64_t value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
    keep_memory(values);
}

// Returns whether `values` contains every number below `count` once.
static bool is_permutation(const uint64_t *values, size_t count) {
    unsigned char *seen = (unsigned char *)calloc(count, 1);
    if (seen == nullptr) abort();
    bool right = true;
    for (size_t i = 0; i < count && right; i++) {
        right = values[i] < count && !seen[values[i]];
        if (right) seen[values[i]] = 1;
    }
    free(seen);
    return right;
}

// The arrays of one size; they are at the same address for all sizes.
struct Size {
    size_t bytes;
    double best_seconds;
};

static const int TURNS = 5;
static const double TURN_SECONDS = 0.02;

static void take_turn(Size &size, uint64_t *values, uint64_t *random, bool last) {
    size_t count = size.bytes / sizeof *values;
    for (size_t i = 0; i < count; i++) values[i] = i;
    // The first shuffle loads the array into the caches and isn't measured.
    shuffle(values, count, random);
    double end = clock_seconds() + TURN_SECONDS;
    for (double before = clock_seconds(), after = 0; after < end; before = after) {
        shuffle(values, count, random);
        after = clock_seconds();
        if (after - before < size.best_seconds) size.best_seconds = after - before;
    }
    if (last) check(is_permutation(values, count), "a shuffled array holds every number once");
}

static void print_size(const Size &size) {
    bool whole = size.bytes >= 1 << 20;
    printf("shuffle_%zu%s_min %.5g ns\n", size.bytes >> (whole ? 20 : 10), whole ? "MiB" : "KiB",
           size.best_seconds * 1e9 / ((double)size.bytes / sizeof(uint64_t)));
}

int main(int count, char **arguments) {
    bool huge = count > 1 && !strcmp(arguments[1], "huge");
    if (count < 2 || (!huge && strcmp(arguments[1], "small"))) {
        fprintf(stderr, "usage: shuffle small|huge [largest size in MiB]\n");
        return 2;
    }
    size_t largest = (size_t)(count > 2 ? atoi(arguments[2]) : 64) << 20;
    void *memory = mmap(nullptr, largest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    if (madvise(memory, largest, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
        perror("madvise");
        return 1;
    }
    std::vector<Size> sizes;
    for (size_t bytes = 16 << 10; bytes <= largest; bytes *= 2) sizes.push_back({bytes, 1e9});
    uint64_t random = 1234;
    for (int turn = 0; turn < TURNS; turn++) {
        for (Size &size : sizes) take_turn(size, (uint64_t *)memory, &random, turn + 1 == TURNS);
    }
    for (const Size &size : sizes) print_size(size);
}

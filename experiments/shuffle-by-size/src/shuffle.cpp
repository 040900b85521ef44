// Shuffles arrays of 16 KiB to 128 MiB (Fisher-Yates, 8-byte elements) and prints the time of one element.
//
// Usage: shuffle small|huge [largest size in MiB]
//
// `huge` asks the kernel for 2 MiB pages, which takes most page table look-ups out of the picture.
#include <sys/mman.h>

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

// True when `values` holds every number below `count` once.
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

static void measure(uint64_t *values, size_t bytes) {
    size_t count = bytes / sizeof *values;
    for (size_t i = 0; i < count; i++) values[i] = i;
    uint64_t random = 1234;
    char name[32];
    if (bytes >= 1 << 20) {
        snprintf(name, sizeof name, "shuffle_%zuMiB", bytes >> 20);
    } else {
        snprintf(name, sizeof name, "shuffle_%zuKiB", bytes >> 10);
    }
    print_time(name, repeat(0.02, [&] { shuffle(values, count, &random); }), (double)count);
    check(is_permutation(values, count), "a shuffled array holds every number once");
}

int main(int count, char **arguments) {
    bool huge = count > 1 && !strcmp(arguments[1], "huge");
    if (count < 2 || (!huge && strcmp(arguments[1], "small"))) {
        fprintf(stderr, "usage: shuffle small|huge [largest size in MiB]\n");
        return 2;
    }
    size_t largest = (size_t)(count > 2 ? atoi(arguments[2]) : 128) << 20;
    void *memory = mmap(nullptr, largest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    if (madvise(memory, largest, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
        perror("madvise");
        return 1;
    }
    for (size_t bytes = 16 << 10; bytes <= largest; bytes *= 2) measure((uint64_t *)memory, bytes);
}

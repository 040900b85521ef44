// The same in C++: differences and prefix sums of 100 integers, with the running sum in memory, in a register, or three
// elements at a time.
//
// Usage: prefix differences|prefix|register|blocks
#include "measure.h"

static const size_t LENGTH = 100;

typedef uint64_t *__restrict Target;
typedef const uint64_t *__restrict Source;

__attribute__((noinline)) static void differences(Target target, Source source) {
    for (size_t i = 1; i < LENGTH; i++) target[i] = source[i] - source[i - 1];
}

// Each step reads the value that the previous step has just stored. The barrier keeps the compiler from holding the sum
// in a register, as g++ and clang++ otherwise do.
__attribute__((noinline)) static void prefix_in_memory(Target target, Source source) {
    for (size_t i = 1; i < LENGTH; i++) {
        target[i] = target[i - 1] + source[i];
        keep_memory(target);
    }
}

__attribute__((noinline)) static void prefix_in_register(Target target, Source source) {
    uint64_t sum = target[0];
    for (size_t i = 1; i < LENGTH; i++) target[i] = sum += source[i];
}

// The sums inside a block of three need no earlier block, so the chain has only one addition per three elements.
__attribute__((noinline)) static void prefix_in_blocks(Target target, Source source) {
    static_assert((LENGTH - 1) % 3 == 0, "whole blocks");
    uint64_t sum = target[0];
    for (size_t i = 1; i < LENGTH; i += 3) {
        uint64_t two = source[i] + source[i + 1], three = two + source[i + 2];
        target[i] = sum + source[i];
        target[i + 1] = sum + two;
        target[i + 2] = sum += three;
    }
}

// A way to fill one array from another.
typedef void (*Pass)(Target, Source);

static Pass pass_named(const char *name) {
    if (!strcmp(name, "differences")) return differences;
    if (!strcmp(name, "prefix")) return prefix_in_memory;
    if (!strcmp(name, "register")) return prefix_in_register;
    if (!strcmp(name, "blocks")) return prefix_in_blocks;
    return nullptr;
}

static void check_prefix(Pass sum) {
    uint64_t squares[LENGTH], steps[LENGTH] = {0}, sums[LENGTH] = {0};
    for (size_t i = 0; i < LENGTH; i++) squares[i] = i * i;
    differences(steps, squares);
    check(steps[LENGTH - 1] == 2 * LENGTH - 3, "the differences of squares");
    sum(sums, steps);
    for (size_t i = 0; i < LENGTH; i++) check(sums[i] == squares[i], "prefix sums undo differences");
}

int main(int count, char **arguments) {
    Pass pass = pass_named(count > 1 ? arguments[1] : "");
    if (pass == nullptr) {
        fprintf(stderr, "usage: prefix differences|prefix|register|blocks\n");
        return 2;
    }
    check_prefix(prefix_in_memory);
    check_prefix(prefix_in_register);
    check_prefix(prefix_in_blocks);
    // The places of the arrays in their cache lines change the time by half, and differ between processes. So this tries
    // all distances between them within a line, and prints the best.
    alignas(64) uint64_t source[LENGTH] = {1, 2, 3};
    alignas(64) uint64_t room[LENGTH + 8] = {0};
    const int passes = 1000;
    Timing best = {1e9, 1e9, 0};
    for (int words = 0; words < 8; words++) {
        uint64_t *target = room + words;
        Timing timing = repeat(0.07, [&] {
            for (int i = 0; i < passes; i++) {
                pass(target, source);
                keep_memory(target);
            }
        });
        if (timing.minimum < best.minimum) best = timing;
    }
    print_time("pass", best, passes);
}

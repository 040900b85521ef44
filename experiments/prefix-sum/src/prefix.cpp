// The same in C++: differences and prefix sums of 100 integers in place, with the running sum in memory, in a register,
// or four elements at a time.
//
// Usage: prefix differences|prefix|register|blocks
#include "measure.h"

static const size_t LENGTH = 100;

__attribute__((noinline)) static void differences(uint64_t *values) {
    for (size_t i = LENGTH - 1; i > 0; i--) values[i] -= values[i - 1];
}

// Each step reads what the step before has just stored. The barrier keeps the compiler from carrying the sum in a
// register, which is what g++ and clang++ otherwise do.
__attribute__((noinline)) static void prefix_in_memory(uint64_t *values) {
    for (size_t i = 1; i < LENGTH; i++) {
        values[i] += values[i - 1];
        keep_memory(values);
    }
}

__attribute__((noinline)) static void prefix_in_register(uint64_t *values) {
    uint64_t sum = 0;
    for (size_t i = 0; i < LENGTH; i++) values[i] = sum += values[i];
}

// The sums inside a block of four need no earlier block: one addition for four elements is left in the chain.
__attribute__((noinline)) static void prefix_in_blocks(uint64_t *values) {
    static_assert(LENGTH % 4 == 0, "whole blocks");
    uint64_t sum = 0;
    for (size_t i = 0; i < LENGTH; i += 4) {
        uint64_t two = values[i] + values[i + 1], three = two + values[i + 2], four = three + values[i + 3];
        values[i] = sum + values[i];
        values[i + 1] = sum + two;
        values[i + 2] = sum + three;
        values[i + 3] = sum += four;
    }
}

typedef void (*Pass)(uint64_t *);

static Pass pass_named(const char *name) {
    if (!strcmp(name, "differences")) return differences;
    if (!strcmp(name, "prefix")) return prefix_in_memory;
    if (!strcmp(name, "register")) return prefix_in_register;
    if (!strcmp(name, "blocks")) return prefix_in_blocks;
    return nullptr;
}

static void check_prefix(Pass sum) {
    uint64_t values[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) values[i] = i * i;
    differences(values);
    check(values[LENGTH - 1] == 2 * LENGTH - 3, "the differences of squares");
    sum(values);
    for (size_t i = 0; i < LENGTH; i++) check(values[i] == i * i, "prefix sums undo differences");
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
    uint64_t values[LENGTH] = {1, 2, 3};
    const int passes = 1000;
    Timing timing = repeat(0.1, [&] {
        for (int i = 0; i < passes; i++) {
            pass(values);
            keep_memory(values);
        }
    });
    print_time("pass", timing, passes);
}

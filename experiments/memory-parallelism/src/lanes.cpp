// Walks through one large random cycle with 1 to 40 lanes at once and prints the time of one step.
//
// Usage: lanes spread|together SIZE_IN_MIB
//
// spread    each lane starts at another place, far from the others: what is meant by memory-level parallelism
// together  all lanes start at one place and walk the same path, as the lanes of the published program do: the first
//           lane waits for memory and the others find the line in the cache
#include <vector>

#include "measure.h"

// One cycle through all places in random order (Sattolo 1986).
static std::vector<uint64_t> make_cycle(size_t length) {
    std::vector<uint64_t> next(length);
    for (size_t i = 0; i < length; i++) next[i] = i;
    uint64_t seed = 1;
    for (size_t i = length - 1; i > 0; i--) std::swap(next[i], next[random_below(&seed, i)]);
    return next;
}

// Where the lanes start: each somewhere else, or all at one place. Every number of lanes has places of its own, so that
// none walks where another has just been.
static std::vector<uint64_t> make_starts(size_t length, size_t lanes, bool spread) {
    uint64_t random = lanes;
    std::vector<uint64_t> starts(lanes, random_below(&random, length));
    for (size_t lane = 1; spread && lane < lanes; lane++) starts[lane] = random_below(&random, length);
    return starts;
}

// Every lane makes `steps` steps from its place and leaves where it ended. The lanes are independent, so their loads can
// be under way together.
template <size_t lanes> static void walk(const uint64_t *next, uint64_t *places, size_t steps) {
    uint64_t at[lanes];
    for (size_t lane = 0; lane < lanes; lane++) at[lane] = places[lane];
    for (size_t step = 0; step < steps; step++) {
        for (size_t lane = 0; lane < lanes; lane++) at[lane] = next[at[lane]];
    }
    for (size_t lane = 0; lane < lanes; lane++) places[lane] = at[lane];
}

// Steps of all lanes together in one repetition: a millisecond or two for one lane, so that some repetitions find the
// processor free.
static const size_t STEPS = 9600;

template <size_t lanes> static void measure(const std::vector<uint64_t> &next, bool spread) {
    std::vector<uint64_t> places = make_starts(next.size(), lanes, spread);
    std::vector<uint64_t> expected(places);
    size_t steps = STEPS / lanes;
    for (uint64_t &place : expected) {
        for (size_t step = 0; step < steps; step++) place = next[place];
    }
    walk<lanes>(next.data(), places.data(), steps);
    check(places == expected, "where the lanes end");
    // Each repetition goes on from where the last one ended, on lines that it hasn't touched.
    Timing timing = repeat(0.03, [&] { walk<lanes>(next.data(), places.data(), steps); });
    char name[32];
    snprintf(name, sizeof name, "lanes_%zu", lanes);
    print_time(name, timing, (double)(steps * lanes));
}

int main(int count, char **arguments) {
    bool spread = count == 3 && !strcmp(arguments[1], "spread");
    size_t size = count == 3 ? (size_t)atol(arguments[2]) << 20 : 0;
    if (size == 0 || (!spread && strcmp(arguments[1], "together"))) {
        fprintf(stderr, "usage: lanes spread|together SIZE_IN_MIB\n");
        return 2;
    }
    std::vector<uint64_t> next = make_cycle(size / sizeof(uint64_t));
    measure<1>(next, spread);
    measure<2>(next, spread);
    measure<4>(next, spread);
    measure<8>(next, spread);
    measure<12>(next, spread);
    measure<16>(next, spread);
    measure<20>(next, spread);
    measure<24>(next, spread);
    measure<32>(next, spread);
    measure<40>(next, spread);
}

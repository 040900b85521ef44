// Walks through one large random cycle with 1 to 40 lanes at once and prints the time of one step.
//
// Usage: lanes spread|together SIZE_IN_MIB
//
// spread    each lane starts at another place, far from the others: real memory-level parallelism
// together  all lanes start at one place and walk the same path, as in the published program: the first lane waits
//           for memory and the others find the line in the cache
// The numbers of lanes take turns, so disturbances affect all of them, and the best repetition of all turns is
// printed. The program requests pages of 2 MiB: with small ones, much of a step would be the lookup of its page's
// address.
#include <sys/mman.h>

#include <vector>

#include "measure.h"

typedef void (*Walk)(const uint64_t *next, uint64_t *places, size_t steps);

// One cycle through all places in random order (Sattolo 1986).
static uint64_t *make_cycle(size_t length) {
    const size_t huge = 2 << 20;
    uint64_t *next = (uint64_t *)aligned_alloc(huge, (length * sizeof *next + huge - 1) / huge * huge);
    if (next == nullptr) abort();
    if (madvise(next, length * sizeof *next, MADV_HUGEPAGE) != 0) perror("no large pages");
    for (size_t i = 0; i < length; i++) next[i] = i;
    uint64_t seed = 1;
    for (size_t i = length - 1; i > 0; i--) std::swap(next[i], next[random_below(&seed, i)]);
    return next;
}

// Returns where the lanes start: all at different places, or all at one place. Every number of lanes has its own places,
// so that none walks where another has just been.
static std::vector<uint64_t> make_starts(size_t length, size_t lanes, bool spread) {
    uint64_t random = lanes;
    std::vector<uint64_t> starts(lanes, random_below(&random, length));
    for (size_t lane = 1; spread && lane < lanes; lane++) starts[lane] = random_below(&random, length);
    return starts;
}

// Every lane makes `steps` steps from its place and stores where it ended. The lanes are independent, so their loads can
// overlap.
template <size_t lanes> static void walk(const uint64_t *next, uint64_t *places, size_t steps) {
    uint64_t at[lanes];
    for (size_t lane = 0; lane < lanes; lane++) at[lane] = places[lane];
    for (size_t step = 0; step < steps; step++) {
        for (size_t lane = 0; lane < lanes; lane++) at[lane] = next[at[lane]];
    }
    for (size_t lane = 0; lane < lanes; lane++) places[lane] = at[lane];
}

// The steps of all lanes together in one repetition: a millisecond or two for one lane, so some repetitions are
// undisturbed.
static const size_t STEPS = 9600;

// Walks with one number of lanes, in each turn on lines that were not touched recently.
struct Contender {
    size_t lanes;
    Walk walk;
    std::vector<uint64_t> places;
    double best_seconds;
};

static Contender contender(const uint64_t *next, size_t length, size_t lanes, Walk walk, bool spread) {
    Contender made = {lanes, walk, make_starts(length, lanes, spread), 1e9};
    std::vector<uint64_t> expected(made.places);
    size_t steps = STEPS / lanes;
    for (uint64_t &place : expected) {
        for (size_t step = 0; step < steps; step++) place = next[place];
    }
    walk(next, made.places.data(), steps);
    check(made.places == expected, "where the lanes end");
    return made;
}

static const int TURNS = 10;
static const double TURN_SECONDS = 0.02;

// Each repetition continues where the previous one ended.
static void take_turn(Contender &contender, const uint64_t *next) {
    double end = clock_seconds() + TURN_SECONDS;
    for (double before = clock_seconds(), after = 0; after < end; before = after) {
        contender.walk(next, contender.places.data(), STEPS / contender.lanes);
        after = clock_seconds();
        if (after - before < contender.best_seconds) contender.best_seconds = after - before;
    }
}

int main(int count, char **arguments) {
    bool spread = count == 3 && !strcmp(arguments[1], "spread");
    size_t size = count == 3 ? (size_t)atol(arguments[2]) << 20 : 0;
    if (size == 0 || (!spread && strcmp(arguments[1], "together"))) {
        fprintf(stderr, "usage: lanes spread|together SIZE_IN_MIB\n");
        return 2;
    }
    size_t length = size / sizeof(uint64_t);
    const uint64_t *next = make_cycle(length);
    std::vector<Contender> contenders;
    auto add = [&](size_t lanes, Walk walk) { contenders.push_back(contender(next, length, lanes, walk, spread)); };
    add(1, walk<1>);
    add(4, walk<4>);
    add(8, walk<8>);
    add(16, walk<16>);
    add(24, walk<24>);
    add(32, walk<32>);
    add(40, walk<40>);
    for (int turn = 0; turn < TURNS; turn++) {
        for (Contender &contender : contenders) take_turn(contender, next);
    }
    for (const Contender &contender : contenders) {
        size_t steps = STEPS / contender.lanes * contender.lanes;
        printf("lanes_%zu_min %.5g ns\n", contender.lanes, contender.best_seconds * 1e9 / (double)steps);
    }
}

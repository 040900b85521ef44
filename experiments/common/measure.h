/* Timing for the catalogue's C and C++ programs: repeats, keeps the results, prints one plain line for each.
 *
 * A program prints `NAME_min VALUE UNIT` and `NAME_median VALUE UNIT`. Experiment files read those
 * lines with `how = "value"`. Most of the published results report the minimum. The median is printed,
 * too, because the minimum alone hides a program that is slow most of the time.
 */
#ifndef FATHOM_EXPERIMENTS_MEASURE_H
#define FATHOM_EXPERIMENTS_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Returns seconds since some fixed point, from a clock that never goes back. */
static inline double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Makes the compiler assume that all memory behind `pointer` is read and may be changed, so it can't
 * drop stores or move loads out of a repetition. Costs no instruction. */
static inline void keep_memory(const void *pointer) { __asm__ volatile("" : : "r"(pointer) : "memory"); }

/* Makes the compiler assume that `value` is used. */
static inline void keep_value(uint64_t value) { __asm__ volatile("" : : "r"(value)); }

/* The times of a series of repetitions, in seconds per repetition. */
typedef struct {
    double minimum;
    double median;
    size_t repetitions;
} Timing;

static inline int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

enum { MOST_REPETITIONS = 100000, LEAST_REPETITIONS = 3 };

/* Runs `work(context)` once unmeasured, then repeatedly until `budget` seconds are over, at least
 * LEAST_REPETITIONS times. One repetition must be long compared with the clock's 25 ns or so: a microsecond. */
static inline Timing repeat(void (*work)(void *), void *context, double budget) {
    double *seconds = (double *)malloc(MOST_REPETITIONS * sizeof *seconds);
    if (seconds == NULL) abort();
    Timing timing = {0, 0, 0};
    work(context);
    double end = clock_seconds() + budget;
    for (double before = clock_seconds();
         timing.repetitions < MOST_REPETITIONS &&
         (timing.repetitions < LEAST_REPETITIONS || before < end);) {
        work(context);
        double after = clock_seconds();
        seconds[timing.repetitions++] = after - before;
        before = clock_seconds();
    }
    qsort(seconds, timing.repetitions, sizeof *seconds, compare_doubles);
    timing.minimum = seconds[0];
    timing.median = seconds[timing.repetitions / 2];
    free(seconds);
    return timing;
}

/* Prints the time per operation in nanoseconds; a repetition makes `operations` of them. */
static inline void print_time(const char *name, Timing timing, double operations) {
    printf("%s_min %.5g ns\n", name, timing.minimum * 1e9 / operations);
    printf("%s_median %.5g ns\n", name, timing.median * 1e9 / operations);
}

/* Prints the speed at which a repetition processes `bytes`, in GB/s (10^9 bytes). The best speed, that of
 * the shortest repetition, is called `NAME_max`. */
static inline void print_speed(const char *name, Timing timing, double bytes) {
    printf("%s_max %.5g GB/s\n", name, bytes / timing.minimum * 1e-9);
    printf("%s_median %.5g GB/s\n", name, bytes / timing.median * 1e-9);
}

/* Ends the program with an error if a benchmark computed a wrong result. */
static inline void check(int right, const char *what) {
    if (right) return;
    fprintf(stderr, "wrong result: %s\n", what);
    exit(1);
}

/* A small generator of good quality (splitmix64, Steele, Lea and Flood 2014): same seed, same data. */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/* A number from 0 to `bound` - 1, by multiplication instead of division (Lemire 2019, without the
 * rejection step: the bias is below 2^-32 for the sizes used here). */
static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return (uint64_t)(((__uint128_t)next_random(state) * bound) >> 64);
}

#ifdef __cplusplus
/* The same for any callable object, such as a lambda with captures. */
template <class Work> static inline Timing repeat(double budget, Work work) {
    return repeat([](void *context) { (*(Work *)context)(); }, &work, budget);
}
#endif

#endif

// Runs in lockstep with a sampler: spends 60 % of each turn in `more` and the rest in `less`, by the clock
// of the thread (`cpu`) or of the machine. Arguments: the clock, the length of a turn in ns, the number of turns.
// The exit code is the percentage of its CPU time that it spent in `more`: on a slow machine, it can't keep time.
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink = 1;
static clockid_t which;
static long at(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
static long now(void) { return at(which); }
#define UNTIL(name) __attribute__((noinline)) void name(long until) { \
    while (now() < until) \
        for (int i = 0; i < 2000; i++) sink = sink * 2862933555777941757UL + 3037000493UL; \
    __asm__ volatile(""); }
UNTIL(more)
UNTIL(less)
int main(int argc, char **argv) {
    (void)argc;
    which = argv[1][0] == 'c' ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    long from = now(), turn = atol(argv[2]);
    long began = at(CLOCK_THREAD_CPUTIME_ID), in_more = 0;
    for (long i = 0; i < atol(argv[3]); i++, from += turn) {
        long before = at(CLOCK_THREAD_CPUTIME_ID);
        more(from + turn * 6 / 10);
        in_more += at(CLOCK_THREAD_CPUTIME_ID) - before;
        less(from + turn);
    }
    return in_more * 100 / (at(CLOCK_THREAD_CPUTIME_ID) - began);
}

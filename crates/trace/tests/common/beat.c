// Runs in lockstep with a sampler: spends 60 % of each turn in `more` and the rest in `less`, by the clock
// of the thread (`cpu`) or of the machine. Arguments: the clock, the length of a turn in ns, the number of turns.
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink = 1;
static clockid_t which;
static long now(void) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
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
    for (long i = 0; i < atol(argv[3]); i++, from += turn) { more(from + turn * 6 / 10); less(from + turn); }
    return 0;
}

// A fixed amount of work: N multiply-adds, each of which depends on the previous result.
// Usage: work N, or built with -DITERATIONS=N
#include <stdint.h>
#include <stdlib.h>

#ifndef ITERATIONS
#define ITERATIONS 0
#endif

int main(int argc, char **argv) {
    uint64_t x = 1;
    for (long long i = argc > 1 ? atoll(argv[1]) : ITERATIONS; i > 0; i--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    // Using x keeps the compiler from removing the loop; the period of x is 2^64.
    return x == 0;
}

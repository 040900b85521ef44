/* Ten million small items; the clock that needs no call is read for each. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 10000000, EVERY = 1 };

int main(void)
{
    struct timespec now, last = {0, 0};
    uint64_t value = 1;
    int backwards = 0;
    for (int item = 0; item < ITEMS; item++) {
        for (int round = 0; round < 8; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        if (item % EVERY == 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            backwards += now.tv_sec < last.tv_sec;
            last = now;
        }
    }
    printf("%016" PRIx64 " %d\n", value, backwards);
    return 0;
}

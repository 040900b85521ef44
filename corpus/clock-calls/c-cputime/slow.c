/* Work on a million items; the CPU clock, which is a system call, is read for each. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 1000000, EVERY = 1 };

int main(void)
{
    struct timespec now, last = {0, 0};
    uint64_t value = 1;
    int backwards = 0;
    for (int item = 0; item < ITEMS; item++) {
        for (int round = 0; round < 40; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        if (item % EVERY == 0) {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
            backwards += now.tv_sec < last.tv_sec;
            last = now;
        }
    }
    printf("%016" PRIx64 " %d\n", value, backwards);
    return 0;
}

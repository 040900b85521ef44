/* Writes a line for each of 300,000 items, and reads the CPU clock, which is a system call, for each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void)
{
    int lines = getenv("FIRST") != NULL, clocks = getenv("SECOND") != NULL;
    uint64_t value = 1;
    struct timespec now = {0, 0};
    for (int item = 0; item < 300000; item++) {
        for (int round = 0; round < 200; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        if (clocks || item == 0)
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        printf("item %06d is %016" PRIx64 "%s\n", item, value, now.tv_sec > 60 ? ", late" : "");
        if (lines)
            fflush(stdout);
    }
    return 0;
}

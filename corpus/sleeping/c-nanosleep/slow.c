/* Work in 500 steps, with a pause of 1 ms after each. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
    uint64_t value = 1;
    for (int step = 0; step < 500; step++) {
        for (int round = 0; round < 80000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    printf("%016" PRIx64 "\n", value);
    return 0;
}

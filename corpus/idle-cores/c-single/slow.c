/* Eight jobs that don't depend on each other, one after another. */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    for (int job = 0; job < 8; job++) {
        uint64_t value = job + 1;
        for (int round = 0; round < 50000000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        printf("%016" PRIx64 "\n", value);
    }
    return 0;
}

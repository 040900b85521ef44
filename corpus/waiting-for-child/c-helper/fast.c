/* Three checksums, side by side in one loop of one process. */
#include <inttypes.h>
#include <stdio.h>

static uint64_t step(uint64_t value)
{
    return (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
}

int main(void)
{
    uint64_t first = 1, second = 2, third = 3;
    for (int round = 0; round < 100000000; round++) {
        first = step(first);
        second = step(second);
        third = step(third);
    }
    printf("%016" PRIx64 "\n%016" PRIx64 "\n%016" PRIx64 "\n", first, second, third);
    return 0;
}

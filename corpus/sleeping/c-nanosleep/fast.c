/* Work in 500 steps, without a pause. */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t value = 1;
    for (int step = 0; step < 500; step++) {
        for (int round = 0; round < 80000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%016" PRIx64 "\n", value);
    return 0;
}

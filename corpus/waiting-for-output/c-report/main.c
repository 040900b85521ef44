/* A report of 60000 lines, each with a value that takes some work. */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t value = 1;
    for (int i = 0; i < 60000; i++) {
        for (int round = 0; round < 600; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        printf("item %06d has value %020" PRIu64 " and state ready\n", i, value);
    }
    return 0;
}

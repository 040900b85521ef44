/* Prints one number for a region. */
#include <stdint.h>
#include <stdio.h>

uint32_t library0_function0(uint32_t value);

int main(int count, char **arguments)
{
    uint64_t value = 1;
    for (const char *c = count > 1 ? arguments[1] : ""; *c; c++)
        for (int round = 0; round < 2000000; round++)
            value = (value ^ (value >> 29) ^ *c) * 0x9E3779B97F4A7C15u;
    printf("%u\n", library0_function0((uint32_t)value));
    return 0;
}

#include <stdio.h>

int main(void)
{
    unsigned long long value = 1;
    for (int i = 0; i < 300000; i++)
        for (int k = 0; k < 100; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    for (int k = 0; k < 30000000; k++)
        __asm__ volatile("");
    printf("%llu %d\n", value, 1);
    return 0;
}

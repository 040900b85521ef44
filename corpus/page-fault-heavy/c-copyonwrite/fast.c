#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned long long value = 1;
    for (int i = 0; i < 40000000; i++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%llu\n", value);
    return 0;
}

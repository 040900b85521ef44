#include <stdint.h>
#include <stdio.h>

int main(void)
{
    uint64_t item = 1;
    for (int i = 0; i < 40000; i++)
        for (int k = 0; k < 2000; k++)
            item = (item ^ (item >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%llu\n", (unsigned long long)item);
    return 0;
}

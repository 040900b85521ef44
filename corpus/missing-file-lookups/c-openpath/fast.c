#include <stdio.h>

int main(void)
{
    unsigned long long value = 1;
    int found = 0;
    for (int header = 0; header < 400; header++)
        for (int k = 0; k < 120000; k++)
            if (k < 60000)
                value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%d %llu\n", found, value);
    return 0;
}

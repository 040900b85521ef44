#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    unsigned long long value = 1;
    for (int i = 0; i < 30000; i++) {
        char *buffer = malloc(100000);
        buffer[i % 100000] = (char)value;
        for (int k = 0; k < 1500; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        value += buffer[i % 100000];
        free(buffer);
    }
    printf("%llu\n", value);
    return 0;
}

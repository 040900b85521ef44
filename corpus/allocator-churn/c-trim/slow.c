#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    mallopt(M_TRIM_THRESHOLD, 0);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 0);
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

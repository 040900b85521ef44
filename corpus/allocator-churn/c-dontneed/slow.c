#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
    size_t size = 128 * 1024;
    char *scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long long value = 1;
    for (int i = 0; i < 4000; i++) {
        memset(scratch, i, size);
        for (int k = 0; k < 10000; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        value += scratch[i];
        madvise(scratch, size, MADV_DONTNEED);
    }
    printf("%llu\n", value);
    return 0;
}

#include <stdio.h>
#include <sys/mman.h>

#define TABLE (64 * 1024 * 1024)
__attribute__((aligned(4096))) static const unsigned char table[TABLE] = {1, 2, 3, [TABLE / 2] = 9, [TABLE - 1] = 4};

int main(void)
{
    madvise((void *)table, TABLE, MADV_RANDOM);
    unsigned long long at = 12345, sum = 1;
    const volatile unsigned char *entry = table;
    for (int i = 0; i < 2000; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += entry[(at >> 33) % TABLE];
        for (int k = 0; k < 30000; k++)
            sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%llu\n", sum);
    return 0;
}

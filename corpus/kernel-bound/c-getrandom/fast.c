/* Fills 600 blocks of 256 KiB with noise, as padding that nobody has to be unable to guess. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 600, SIZE = 1 << 18 };

static unsigned char block[SIZE];

int main(void)
{
    int filled = 0;
    uint64_t sum = 0, value = 88172645463325252u;
    for (; filled < BLOCKS; filled++) {
        for (size_t have = 0; have < SIZE; have += sizeof value) {
            value ^= value << 13;
            value ^= value >> 7;
            value ^= value << 17;
            memcpy(block + have, &value, sizeof value);
        }
        sum += block[filled];
    }
    printf("%d blocks%s\n", filled, sum ? "" : ", all empty");
    return 0;
}

/* Fills 600 blocks of 256 KiB with noise, as padding that nobody has to be unable to guess. */
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

enum { BLOCKS = 600, SIZE = 1 << 18 };

static unsigned char block[SIZE];

int main(void)
{
    int filled = 0;
    uint64_t sum = 0;
    for (; filled < BLOCKS; filled++) {
        for (size_t have = 0; have < SIZE;) {
            ssize_t got = getrandom(block + have, SIZE - have, 0);
            if (got < 0)
                return perror("getrandom"), 1;
            have += got;
        }
        sum += block[filled];
    }
    printf("%d blocks%s\n", filled, sum ? "" : ", all empty");
    return 0;
}

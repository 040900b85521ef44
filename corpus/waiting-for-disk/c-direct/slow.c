/* Read 5000 blocks of a file in random order, each from the device. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096, READS = 5000 };

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECT) : -1;
    if (file < 0)
        return perror("open"), 1;
    off_t blocks = lseek(file, 0, SEEK_END) / BLOCK;
    uint64_t *block = aligned_alloc(BLOCK, BLOCK);
    uint64_t sum = 0;
    uint32_t state = 1;
    for (int i = 0; i < READS; i++) {
        state = state * 1664525u + 1013904223u;
        if (pread(file, block, BLOCK, (off_t)((state >> 8) % blocks) * BLOCK) != BLOCK)
            return perror("pread"), 1;
        for (int at = 0; at < 512 * 8; at++)
            sum = (sum ^ block[at % 512] ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

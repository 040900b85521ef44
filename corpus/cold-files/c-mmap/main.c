/* Follow random places of a mapped file. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0)
        return perror("open"), 1;
    off_t size = lseek(file, 0, SEEK_END);
    const unsigned char *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED)
        return perror("mmap"), 1;
    madvise((void *)bytes, size, MADV_RANDOM);
    uint64_t sum = 0;
    uint32_t state = 1;
    for (int i = 0; i < 5000; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned char byte = bytes[(state >> 4) % size];
        for (int round = 0; round < 4000; round++)
            sum = (sum ^ byte ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

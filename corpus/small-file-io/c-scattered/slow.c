/* Follows links between records of 16 bytes, one pread() each. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 500000 };

struct record {
    uint64_t key, value;
};

int main(int argc, char **argv)
{
    struct stat about;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &about) != 0)
        return perror("open"), 1;
    uint64_t records = (uint64_t)about.st_size / sizeof(struct record), sum = 0;
    for (int link = 0; link < LINKS; link++) {
        struct record record;
        uint64_t at = (sum ^ (sum >> 29)) % records;
        if (pread(file, &record, sizeof record, (off_t)(at * sizeof record)) != sizeof record)
            return perror("pread"), 1;
        sum = (sum ^ record.key) * 0x9E3779B97F4A7C15u + record.value + (uint64_t)link;
    }
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

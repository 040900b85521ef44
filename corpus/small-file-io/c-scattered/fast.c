/* Reads the records once, and follows the links between them in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LINKS = 500000 };

struct record {
    uint64_t key, value;
};

int main(int argc, char **argv)
{
    struct stat about;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fstat(fileno(file), &about) != 0)
        return perror("open"), 1;
    uint64_t records = (uint64_t)about.st_size / sizeof(struct record), sum = 0;
    struct record *all = malloc(records * sizeof *all);
    if (all == NULL || fread(all, sizeof *all, records, file) != records)
        return perror("read"), 1;
    for (int link = 0; link < LINKS; link++) {
        struct record record = all[(sum ^ (sum >> 29)) % records];
        sum = (sum ^ record.key) * 0x9E3779B97F4A7C15u + record.value + (uint64_t)link;
    }
    printf("%016" PRIx64 "\n", sum);
    free(all);
    return 0;
}

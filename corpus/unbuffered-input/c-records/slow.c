/* The sum of 16-byte records in a file, one read() a record. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct record {
    uint64_t key, value;
};

static uint64_t mix(uint64_t sum, struct record record)
{
    sum ^= record.key + 31 * record.value;
    for (int round = 0; round < 40; round++)
        sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    return sum;
}

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0)
        return perror("open"), 1;
    uint64_t sum = 0;
    struct record record;
    while (read(file, &record, sizeof record) == sizeof record)
        sum = mix(sum, record);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

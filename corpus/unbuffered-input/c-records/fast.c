/* The sum of 16-byte records in a file, through stdio. */
#include <inttypes.h>
#include <stdio.h>

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
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL)
        return perror("open"), 1;
    uint64_t sum = 0;
    struct record record;
    while (fread(&record, sizeof record, 1, file) == 1)
        sum = mix(sum, record);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

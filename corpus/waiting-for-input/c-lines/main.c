/* A checksum of the lines of standard input. */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    char line[4096];
    uint64_t sum = 0;
    while (fgets(line, sizeof line, stdin))
        for (char *letter = line; *letter; letter++)
            for (int round = 0; round < 24; round++)
                sum = (sum ^ (unsigned char)*letter ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

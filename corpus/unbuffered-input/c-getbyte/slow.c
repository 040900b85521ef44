/* A checksum of standard input, one read() a byte. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t mix(uint64_t sum, unsigned char byte)
{
    sum ^= byte;
    for (int round = 0; round < 24; round++)
        sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    return sum;
}

int main(void)
{
    uint64_t sum = 0;
    unsigned char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1)
        sum = mix(sum, byte);
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}

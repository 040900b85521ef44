/* Hashes standard input; pauses 5 ms after each 25,000 bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int bytes = getenv("FIRST") != NULL, pauses = getenv("SECOND") != NULL;
    uint64_t sum = 0;
    for (long at = 1;; at++) {
        unsigned char byte;
        if ((bytes ? read(0, &byte, 1) : (ssize_t)fread(&byte, 1, 1, stdin)) != 1)
            break;
        for (int round = 0; round < 40; round++)
            sum = (sum ^ byte ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
        if (pauses && at % 25000 == 0)
            usleep(5000);
    }
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (120u * 1024 * 1024)

int main(void)
{
    unsigned char *table = malloc(SIZE);
    memset(table, 1, SIZE);
    for (int round = 0; round < 3; round++) {
        fflush(stdout);
        if (fork() == 0) {
            for (unsigned at = 0; at < SIZE; at += 4096)
                table[at] += round;
            _exit(0);
        }
        wait(NULL);
    }
    unsigned long long value = table[4096];
    for (int i = 0; i < 40000000; i++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%llu\n", value);
    return 0;
}

/*
 * Sums the bytes of standard input and prints how long that took by its own clock.
 *
 *     sum_bytes unbuffered|buffered
 *
 * `unbuffered` makes one read(2) per byte; `buffered` uses getchar(), which reads blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(void)
{
    perror("sum_bytes: read");
    exit(1);
}

static unsigned long sum_unbuffered(void)
{
    unsigned long sum = 0;
    unsigned char byte;
    ssize_t got;

    while ((got = read(STDIN_FILENO, &byte, 1)) == 1)
        sum += byte;
    if (got < 0)
        fail();
    return sum;
}

static unsigned long sum_buffered(void)
{
    unsigned long sum = 0;
    int byte;

    while ((byte = getchar()) != EOF)
        sum += (unsigned long)byte;
    if (ferror(stdin))
        fail();
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: sum_bytes unbuffered|buffered\n");
        return 2;
    }
    double start = now_us();
    unsigned long sum = strcmp(argv[1], "unbuffered") == 0 ? sum_unbuffered() : sum_buffered();
    printf("sum %lu, took %.3f us\n", sum, now_us() - start);
    return 0;
}

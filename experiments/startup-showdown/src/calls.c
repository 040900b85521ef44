/* Writes a byte to /dev/null 10,000 times and prints the time per call in nanoseconds. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 10000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(void) {
    int sink = open("/dev/null", O_WRONLY);
    if (sink < 0) return 1;
    double begin = now();
    for (int i = 0; i < CALLS; i++) {
        if (write(sink, "x", 1) != 1) return 1;
    }
    double end = now();
    printf("call %.1f ns\n", (end - begin) / CALLS);
    return 0;
}

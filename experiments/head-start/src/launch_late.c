/*
 * Waits, then executes another program, like `zig build run` before it starts its program.
 *
 *     launch_late MILLISECONDS COMMAND [ARGUMENT...]
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: launch_late MILLISECONDS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    long milliseconds = strtol(argv[1], NULL, 10);
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&left, &left) == -1 && errno == EINTR)
        ;
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}

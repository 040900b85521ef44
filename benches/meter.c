// Runs a tool and writes the cost of it and of all processes that it waited for.
// Usage: meter FILE PROGRAM [ARGUMENT...]
// Writes: wait status, user µs, system µs, peak memory KiB.
//
// This is a separate small static program because execve carries the peak memory of the calling
// process over to the new program: if the suite started the tools itself, each of them would be
// charged with the suite's memory.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: meter FILE PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    // The tool ends with the suite, no matter how the suite ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execv(argv[2], argv + 2);
        fprintf(stderr, "can't execute %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    struct rusage usage;
    int status;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("meter");
        return 1;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "%d %lld %lld %ld\n", status,
            usage.ru_utime.tv_sec * 1000000LL + usage.ru_utime.tv_usec,
            usage.ru_stime.tv_sec * 1000000LL + usage.ru_stime.tv_usec, usage.ru_maxrss);
    return fclose(out) == 0 ? 0 : 1;
}

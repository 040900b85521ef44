// A neighbor that occupies a CPU until its parent ends.
// Usage: load CPU BUSY_US IDLE_US     (IDLE_US 0: never sleeps)
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: load CPU BUSY_US IDLE_US\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Start a new session: with autogroup scheduling, programs of the same session share one CPU's
    // worth of time, but a neighbor is another user's program.
    setsid();
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[1]), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) < 0) {
        perror("load: sched_setaffinity");
        return 1;
    }
    long long busy = atoll(argv[2]) * 1000, idle = atoll(argv[3]) * 1000;
    for (;;) {
        long long end = now() + busy;
        while (now() < end) {
        }
        if (idle > 0) {
            struct timespec pause = {idle / 1000000000, idle % 1000000000};
            nanosleep(&pause, 0);
        }
    }
}

/* Runs a program on CPU 0 only, or on CPUs 0 and 1. Static, so that it adds little to a start.
 *
 * Usage: pin 1|2 PROGRAM */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 3) return 2;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    if (arguments[1][0] == '2') CPU_SET(1, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) == 0) execv(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 1;
}

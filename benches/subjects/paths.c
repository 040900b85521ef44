// Threads that work in parallel, phase by phase: which work is on the critical path follows from the
// arguments.
// Usage: paths FOLDER ROUNDS PHASE...
//
// A phase lists the work of each thread, separated by `+`, and ends when all threads have finished. A thread's
// work is a list of KINDnumber, separated by `,`. The number n means:
//   s  compute for n ms (ROUNDS iterations each)     w  write n single bytes to a file
//   r  read n single bytes                           f  write a byte and sync it, n times
//   m  look up a file that doesn't exist, n times    z  sleep for 5 ms, n times
//   x  wait for a child that computes for n ms       c  compute for 20 us and write a byte to /dev/null, n times
//   -  do nothing
// The first thread is the main thread.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8 };
static pthread_barrier_t phase_ends;
static char **phases;
static int phase_count;
static const char *folder;
static uint64_t rounds;
extern char **environ;

static void fail(const char *what) {
    perror(what);
    _exit(1);
}

static void compute(uint64_t iterations) {
    volatile uint64_t x = 1;
    for (uint64_t i = 0; i < iterations; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
}

static int opened(const char *kind, int thread, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/paths-%s-%d", folder, kind, thread);
    int file = open(path, flags | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        fail(path);
    return file;
}

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void wait_for_child(long ms) {
    char iterations[32], phase[32];
    snprintf(iterations, sizeof iterations, "%llu", (unsigned long long)rounds);
    snprintf(phase, sizeof phase, "s%ld", ms);
    char *words[] = {"paths", (char *)folder, iterations, phase, NULL};
    pid_t child;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) != 0)
        fail("posix_spawn");
    waitpid(child, NULL, 0);
}

static void work(char kind, long n, int thread) {
    char byte = 'x', path[4096];
    struct stat about;
    int file;
    switch (kind) {
    case 's':
        compute(n * rounds);
        break;
    case 'w':
        file = opened("written", thread, O_WRONLY | O_TRUNC);
        for (long i = 0; i < n; i++)
            if (write(file, &byte, 1) != 1)
                fail("write");
        close(file);
        break;
    case 'r':
        file = opened("read", thread, O_RDWR);
        if (ftruncate(file, n) != 0)
            fail("ftruncate");
        for (long i = 0; i < n; i++)
            if (read(file, &byte, 1) != 1)
                fail("read");
        close(file);
        break;
    case 'f':
        file = opened("durable", thread, O_WRONLY | O_TRUNC);
        for (long i = 0; i < n; i++)
            if (write(file, &byte, 1) != 1 || fsync(file) != 0)
                fail("fsync");
        close(file);
        break;
    case 'm':
        snprintf(path, sizeof path, "%s/none/of/these", folder);
        for (long i = 0; i < n; i++)
            if (stat(path, &about) == 0)
                fail(path);
        break;
    case 'z':
        for (long i = 0; i < n; i++)
            pause_ms(5);
        break;
    case 'x':
        wait_for_child(n);
        break;
    case 'c':
        file = open("/dev/null", O_WRONLY | O_CLOEXEC);
        for (long i = 0; i < n; i++) {
            compute(rounds / 50);
            if (write(file, &byte, 1) != 1)
                fail("write");
        }
        close(file);
        break;
    default:
        break;
    }
}

// Does the work that a phase lists for this thread.
static void take_part(const char *phase, int thread) {
    for (int i = 0; i < thread && phase; i++) {
        phase = strchr(phase, '+');
        phase = phase ? phase + 1 : NULL;
    }
    while (phase && *phase && *phase != '+') {
        work(*phase, atol(phase + 1), thread);
        phase += strcspn(phase, ",+");
        phase += *phase == ',';
    }
}

static void *run(void *place) {
    for (int i = 0; i < phase_count; i++) {
        take_part(phases[i], (int)(intptr_t)place);
        pthread_barrier_wait(&phase_ends);
    }
    return NULL;
}

int main(int count, char **words) {
    if (count < 4)
        return 2;
    folder = words[1];
    rounds = strtoull(words[2], NULL, 10);
    phases = words + 3;
    phase_count = count - 3;
    int threads = 1;
    for (const char *c = phases[0]; *c; c++)
        threads += *c == '+';
    if (threads > THREADS)
        return 2;
    pthread_barrier_init(&phase_ends, NULL, threads);
    pthread_t others[THREADS];
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, run, (void *)(intptr_t)i);
    run((void *)0);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    return 0;
}

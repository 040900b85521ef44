/* Two workers, each bound to a CPU so that its data stays in that CPU's cache. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { WORKERS = 2 };

static uint64_t results[WORKERS];

static void *work(void *argument)
{
    uintptr_t own = (uintptr_t)argument;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(own % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    uint64_t value = own + 1;
    for (int round = 0; round < 250000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    results[own] = value;
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%llx\n", (unsigned long long)(results[0] ^ results[1]));
    return 0;
}

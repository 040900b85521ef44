/* Eight jobs by one thread for every CPU; all CPUs work. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { JOBS = 8 };

static uint64_t results[JOBS];
static long count;

static void *work(void *argument)
{
    for (long job = (long)(intptr_t)argument; job < JOBS; job += count) {
        uint64_t value = job + 1;
        for (int round = 0; round < 50000000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        results[job] = value;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[JOBS];
    count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count > JOBS)
        count = JOBS;
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < JOBS; i++)
        printf("%016" PRIx64 "\n", results[i]);
    return 0;
}

/* One busy thread for every CPU. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNKS = 480, THREADS_A_CPU = 1 };

static uint64_t sums[CHUNKS];
static long count;

static void *worker(void *argument)
{
    for (long chunk = (long)(intptr_t)argument; chunk < CHUNKS; chunk += count) {
        uint64_t value = chunk;
        for (int round = 0; round < 1000000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        sums[chunk] = value;
    }
    return NULL;
}

int main(void)
{
    count = THREADS_A_CPU * sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    uint64_t total = 0;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CHUNKS; i++)
        total += sums[i];
    printf("%016" PRIx64 "\n", total);
    return 0;
}

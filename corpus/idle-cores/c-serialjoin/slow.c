/* Eight jobs by threads; each thread is joined before the next one starts. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { JOBS = 8 };

static uint64_t results[JOBS];

static void *work(void *argument)
{
    uint64_t value = *(uint64_t *)argument;
    for (int round = 0; round < 50000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    *(uint64_t *)argument = value;
    return NULL;
}

int main(void)
{
    pthread_t threads[JOBS];
    for (int i = 0; i < JOBS; i++) {
        results[i] = i + 1;
        pthread_create(&threads[i], NULL, work, &results[i]);
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < JOBS; i++)
        printf("%016" PRIx64 "\n", results[i]);
    return 0;
}

/* Threads hash numbers; all of them do the hashing inside one lock. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { JOBS = 8000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;
static int next;

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 40000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void *worker(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        int job = next++;
        if (job < JOBS)
            total += work(job + 1);
        pthread_mutex_unlock(&lock);
        if (job >= JOBS)
            return NULL;
    }
}

int main(void)
{
    long count = 2 * sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%016" PRIx64 "\n", total);
    return 0;
}

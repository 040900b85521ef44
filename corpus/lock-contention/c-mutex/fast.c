/* Threads hash numbers; each keeps its own sum, and the lock only guards the end. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { JOBS = 8000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;
static atomic_int next;

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 40000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void *worker(void *unused)
{
    (void)unused;
    uint64_t sum = 0;
    for (int job = atomic_fetch_add(&next, 1); job < JOBS; job = atomic_fetch_add(&next, 1))
        sum += work(job + 1);
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%016" PRIx64 "\n", total);
    return 0;
}

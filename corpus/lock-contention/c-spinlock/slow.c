/* Two threads add to counters under one spin lock, and compute while they hold it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, ITEMS = 1200000 };

static pthread_spinlock_t lock;
static uint64_t counters[64];

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 150; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void *run(void *from)
{
    uint64_t item = (uint64_t)(uintptr_t)from;
    for (int i = 0; i < ITEMS; i++, item += THREADS) {
        pthread_spin_lock(&lock);
        uint64_t value = work(item | 1);
        counters[value & 63] += value >> 40;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum = sum * 31 + counters[i];
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

/* Threads add to a table under a spin lock; whoever finds it taken yields and tries again. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, ITEMS = 6000 };

static pthread_spinlock_t lock;
static uint64_t table[1024];

static uint64_t mix(uint64_t value)
{
    for (int round = 0; round < 20000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void *work(void *argument)
{
    uint64_t first = (uintptr_t)argument * ITEMS;
    for (uint64_t item = first; item < first + ITEMS; item++) {
        uint64_t value = mix(item);
        while (pthread_spin_trylock(&lock) != 0)
            sched_yield();
        table[item % 1024] += value;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < 1024; i++)
        sum ^= table[i];
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

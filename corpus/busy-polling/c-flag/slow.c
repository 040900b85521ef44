/* A thread computes; the main thread looks at its flag until it is set. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ready;
static uint64_t result;

static void *compute(void *unused)
{
    uint64_t value = 1;
    for (int round = 0; round < 150000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    result = value;
    atomic_store(&ready, 1);
    return unused;
}

int main(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, compute, NULL))
        return 1;
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    printf("%016" PRIx64 "\n", result);
    pthread_join(worker, NULL);
    return 0;
}

/* A thread computes; the main thread sleeps until it has ended. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

static uint64_t result;

static void *compute(void *unused)
{
    uint64_t value = 1;
    for (int round = 0; round < 150000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    result = value;
    return unused;
}

int main(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, compute, NULL))
        return 1;
    pthread_join(worker, NULL);
    printf("%016" PRIx64 "\n", result);
    return 0;
}

/* Two threads share 16000 jobs. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { JOBS = 16000 };

static uint64_t results[JOBS];

static void job(int number)
{
    uint64_t value = number + 1;
    for (int round = 0; round < 2000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    results[number] = value;
}

static void *every_second(void *first)
{
    for (int number = (int)(intptr_t)first; number < JOBS; number += 2)
        job(number);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, every_second, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (int number = 0; number < JOBS; number++)
        sum += results[number];
    printf("%" PRIx64 "\n", sum);
    return 0;
}

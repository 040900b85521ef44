// Four threads count values in a histogram that they share under one lock.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, VALUES = 4000000, BINS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long bins[BINS];

static void *count(void *first)
{
    unsigned long long value = *(unsigned long long *)first;
    for (int i = 0; i < VALUES; i++) {
        for (int round = 0; round < 8; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u + 1;
        pthread_mutex_lock(&lock);
        bins[value >> 56]++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned long long firsts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        firsts[i] = i + 1;
        pthread_create(&threads[i], NULL, count, &firsts[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned long long sum = 0;
    for (int i = 0; i < BINS; i++)
        sum = sum * 31 + bins[i];
    printf("%llu\n", sum);
    return 0;
}

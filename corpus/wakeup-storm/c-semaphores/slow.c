#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t full, empty;
static unsigned long long item, sum;

static void *take(void *unused)
{
    for (int i = 0; i < 25000; i++) {
        sem_wait(&full);
        sum = sum * 31 + item;
        for (int k = 0; k < 500; k++)
            sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
        sem_post(&empty);
    }
    return unused;
}

int main(void)
{
    pthread_t taker;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_create(&taker, NULL, take, NULL);
    for (int i = 0; i < 25000; i++) {
        sem_wait(&empty);
        item = i;
        sem_post(&full);
    }
    pthread_join(taker, NULL);
    printf("%llu\n", sum);
    return 0;
}

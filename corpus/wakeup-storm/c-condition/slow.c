/* A producer hands 40000 numbers to a consumer through a slot for one of them. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { NUMBERS = 40000, SLOTS = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t slots[SLOTS];
static int filled;

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 500; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

/* Both sides change the slots only when they are all empty or all filled. */
static void *produce(void *unused)
{
    (void)unused;
    for (int first = 0; first < NUMBERS; first += SLOTS) {
        pthread_mutex_lock(&lock);
        while (filled)
            pthread_cond_wait(&changed, &lock);
        for (int i = 0; i < SLOTS; i++)
            slots[i] = work(first + i + 1);
        filled = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t producer;
    uint64_t sum = 0;
    pthread_create(&producer, NULL, produce, NULL);
    for (int first = 0; first < NUMBERS; first += SLOTS) {
        pthread_mutex_lock(&lock);
        while (!filled)
            pthread_cond_wait(&changed, &lock);
        for (int i = 0; i < SLOTS; i++)
            sum += slots[i];
        filled = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(producer, NULL);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

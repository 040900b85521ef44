/* One thread makes blocks, three others take them over by an eventfd each. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SINKS = 3, BLOCKS = 120 };

static int events[SINKS];
static uint64_t blocks[BLOCKS], sums[SINKS];

static void *sink(void *argument)
{
    uintptr_t own = (uintptr_t)argument;
    for (int block = own; block < BLOCKS; block += SINKS) {
        uint64_t count;
        if (read(events[own], &count, sizeof count) != sizeof count)
            break;
        sums[own] += blocks[block];
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[SINKS];
    for (uintptr_t i = 0; i < SINKS; i++) {
        events[i] = eventfd(0, EFD_SEMAPHORE);
        pthread_create(&threads[i], NULL, sink, (void *)i);
    }
    uint64_t value = 1;
    for (int block = 0; block < BLOCKS; block++) {
        for (int round = 0; round < 1000000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        blocks[block] = value;
        eventfd_write(events[block % SINKS], 1);
    }
    for (int i = 0; i < SINKS; i++)
        pthread_join(threads[i], NULL);
    printf("%llx\n", (unsigned long long)(sums[0] + sums[1] + sums[2]));
    return 0;
}

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int there, back;
static uint64_t item;

static void *serve(void *unused)
{
    uint64_t one;
    for (int i = 0; i < 20000; i++) {
        if (read(there, &one, 8) != 8)
            break;
        for (int k = 0; k < 2000; k++)
            item = (item ^ (item >> 29)) * 0x9E3779B97F4A7C15u;
        one = 1;
        if (write(back, &one, 8) != 8)
            break;
    }
    return unused;
}

int main(void)
{
    pthread_t server;
    uint64_t one;
    there = eventfd(0, 0);
    back = eventfd(0, 0);
    item = 1;
    pthread_create(&server, NULL, serve, NULL);
    for (int i = 0; i < 20000; i++) {
        for (int k = 0; k < 2000; k++)
            item = (item ^ (item >> 29)) * 0x9E3779B97F4A7C15u;
        one = 1;
        if (write(there, &one, 8) != 8 || read(back, &one, 8) != 8)
            return 1;
    }
    pthread_join(server, NULL);
    printf("%llu\n", (unsigned long long)item);
    return 0;
}

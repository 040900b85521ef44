/* One thread a CPU computes; the main thread asks a non-blocking pipe for results, over and over. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int results[2];

static void *worker(void *argument)
{
    uint64_t value = (uintptr_t)argument;
    for (int round = 0; round < 250000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    if (write(results[1], &value, sizeof value) != sizeof value)
        perror("write");
    return NULL;
}

int main(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (pipe(results) != 0)
        return perror("pipe"), 1;
    fcntl(results[0], F_SETFL, O_NONBLOCK);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)(i + 1));
    uint64_t total = 0, value;
    for (long done = 0; done < count;) {
        if (read(results[0], &value, sizeof value) == sizeof value) {
            total += value;
            done++;
        } else if (errno != EAGAIN) {
            return perror("read"), 1;
        }
    }
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%016" PRIx64 "\n", total);
    return 0;
}

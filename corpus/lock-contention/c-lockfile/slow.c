/* Four processes share a table; whoever has made the lock file may add to it, the others try again
 * after a pause. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define RECORDS 12

static unsigned long work(unsigned long seed) {
    for (int i = 0; i < 2000000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

static void lock(void) {
    struct timespec pause = {0, 20000000};
    int fd;
    while ((fd = open("table.lock", O_CREAT | O_EXCL | O_WRONLY, 0600)) < 0)
        nanosleep(&pause, NULL);
    close(fd);
}

static void unlock(void) { unlink("table.lock"); }

static void worker(int number) {
    int table = open("table", O_WRONLY | O_APPEND);
    for (int record = 0; record < RECORDS; record++) {
        lock();
        unsigned long value = work((unsigned long)(number * RECORDS + record));
        if (write(table, &value, sizeof value) != sizeof value)
            exit(1);
        unlock();
    }
    exit(0);
}

int main(void) {
    unlink("table.lock");
    close(open("table", O_CREAT | O_TRUNC | O_WRONLY, 0600));
    for (int number = 0; number < WORKERS; number++)
        if (fork() == 0)
            worker(number);
    while (wait(NULL) > 0) {
    }
    puts("done");
    return 0;
}

/* Four processes share a table: each computes by itself, and waits for the lock itself only to add
 * the result. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 4
#define RECORDS 12

static unsigned long work(unsigned long seed) {
    for (int i = 0; i < 2000000; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed;
}

static void worker(int number) {
    int table = open("table", O_WRONLY | O_APPEND);
    for (int record = 0; record < RECORDS; record++) {
        unsigned long value = work((unsigned long)(number * RECORDS + record));
        flock(table, LOCK_EX);
        if (write(table, &value, sizeof value) != sizeof value)
            exit(1);
        flock(table, LOCK_UN);
    }
    exit(0);
}

int main(void) {
    close(open("table", O_CREAT | O_TRUNC | O_WRONLY, 0600));
    for (int number = 0; number < WORKERS; number++)
        if (fork() == 0)
            worker(number);
    while (wait(NULL) > 0) {
    }
    puts("done");
    return 0;
}

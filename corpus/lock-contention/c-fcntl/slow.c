/* Three processes price items and add each price to a file that they share under an fcntl() lock. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t price(uint64_t value)
{
    for (int round = 0; round < 1500000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void lock(int file, int kind)
{
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = sizeof(uint64_t)};
    fcntl(file, F_SETLKW, &range);
}

static void add(int file, uint64_t value)
{
    uint64_t sum = 0;
    if (pread(file, &sum, sizeof sum, 0) < 0)
        _exit(1);
    sum += value;
    if (pwrite(file, &sum, sizeof sum, 0) != sizeof sum)
        _exit(1);
}

int main(void)
{
    int file = open("sum", O_CREAT | O_TRUNC | O_RDWR, 0600);
    for (int worker = 0; worker < 3; worker++)
        if (fork() == 0) {
            for (int item = 0; item < 40; item++) {
                lock(file, F_WRLCK);
                add(file, price(worker * 40 + item));
                lock(file, F_UNLCK);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    uint64_t sum = 0;
    if (pread(file, &sum, sizeof sum, 0) != sizeof sum)
        return 1;
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

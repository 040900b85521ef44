#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long long sink;

static void work(void)
{
    unsigned long long value = 1;
    for (int i = 0; i < 2000000; i++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    sink = value;
}

int main(void)
{
    for (int worker = 0; worker < 4; worker++)
        if (fork() == 0) {
            int fd = open("lock", O_CREAT | O_RDWR, 0600);
            for (int i = 0; i < 40; i++) {
                flock(fd, LOCK_EX);
                work();
                flock(fd, LOCK_UN);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    puts("done");
    return 0;
}

#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int ends[2];
    if (pipe(ends))
        return 1;
    if (fork() == 0) {
        unsigned long long value = 1;
        for (int i = 0; i < 150000000; i++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        _exit(write(ends[1], &value, sizeof value) != sizeof value);
    }
    struct pollfd what = {ends[0], POLLIN, 0};
    while (poll(&what, 1, 0) == 0)
        ;
    unsigned long long value;
    if (read(ends[0], &value, sizeof value) != sizeof value)
        return 1;
    wait(NULL);
    printf("%llu\n", value);
    return 0;
}

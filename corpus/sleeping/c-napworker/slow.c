// A supervisor asks its worker over a socket pair and naps until the answer is there.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <poll.h>

static unsigned long long compute(unsigned long long value)
{
    for (int i = 0; i < 300000; i++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void serve(int end)
{
    unsigned long long value;
    while (recv(end, &value, sizeof value, 0) == sizeof value) {
        value = compute(value);
        send(end, &value, sizeof value, 0);
    }
}

int main(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return 1;
    if (fork() == 0) {
        close(ends[0]);
        serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    unsigned long long value = 1;
    for (int job = 0; job < 80; job++) {
        send(ends[0], &value, sizeof value, 0);
        while (recv(ends[0], &value, sizeof value, MSG_DONTWAIT) != sizeof value)
            poll(NULL, 0, 5);
    }
    close(ends[0]);
    wait(NULL);
    printf("%llu\n", value);
    return 0;
}

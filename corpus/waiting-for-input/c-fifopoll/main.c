/* Adds up numbers that come through a named pipe, which is opened without blocking and awaited by poll(). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t mix(uint64_t value)
{
    for (int round = 0; round < 1000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(int count, char **arguments)
{
    struct pollfd in = {.fd = open(count > 1 ? arguments[1] : "", O_RDONLY | O_NONBLOCK), .events = POLLIN};
    if (in.fd < 0)
        return perror("open"), 1;
    static char block[65536];
    uint64_t sum = 0, number = 0;
    for (;;) {
        if (poll(&in, 1, -1) < 0)
            return perror("poll"), 1;
        ssize_t length = read(in.fd, block, sizeof block);
        if (length == 0)
            break;
        if (length < 0 && errno != EAGAIN)
            return perror("read"), 1;
        for (ssize_t i = 0; i < length; i++) {
            if (block[i] != '\n') {
                number = number * 10 + (block[i] - '0');
                continue;
            }
            sum += mix(number);
            number = 0;
        }
    }
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

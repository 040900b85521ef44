/* Send 20 messages as header and body, by two writes, and await each reply. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int receive(int file, void *data, size_t count)
{
    return recv(file, data, count, MSG_WAITALL) == (ssize_t)count;
}

static void serve(int listener)
{
    int file = accept(listener, NULL, NULL);
    uint64_t header, body;
    while (receive(file, &header, sizeof header) && receive(file, &body, sizeof body)) {
        body *= 7;
        if (write(file, &body, sizeof body) != sizeof body)
            return;
    }
}

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 2000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0)
        return perror("listen"), 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    pid_t child = fork();
    if (child == 0) {
        serve(listener);
        exit(0);
    }
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return perror("connect"), 1;
    uint64_t header = sizeof header, body = 1;
    for (int i = 0; i < 20; i++) {
        if (write(client, &header, sizeof header) < 0 || write(client, &body, sizeof body) < 0)
            return perror("write"), 1;
        if (!receive(client, &body, sizeof body))
            return fprintf(stderr, "the server left\n"), 1;
        body = work(body);
    }
    close(client);
    waitpid(child, NULL, 0);
    printf("%016" PRIx64 "\n", body);
    return 0;
}

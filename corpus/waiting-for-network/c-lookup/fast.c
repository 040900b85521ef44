/* Ask a UDP name server once, and keep the answer; it answers after 7 ms. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 100 };

static void serve(int server)
{
    struct sockaddr_in client;
    socklen_t length = sizeof client;
    uint64_t name;
    while (recvfrom(server, &name, sizeof name, 0, (struct sockaddr *)&client, &length) == sizeof name && name != 0) {
        usleep(7000);
        name *= 7;
        sendto(server, &name, sizeof name, 0, (struct sockaddr *)&client, length);
    }
}

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 400000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int server = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0)
        return perror("bind"), 1;
    getsockname(server, (struct sockaddr *)&address, &length);
    pid_t child = fork();
    if (child == 0) {
        serve(server);
        exit(0);
    }
    int client = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return perror("connect"), 1;
    uint64_t sum = 0, last = 0;
    uint64_t name = 5, answer;
    if (send(client, &name, sizeof name, 0) < 0 || recv(client, &answer, sizeof answer, 0) < 0)
        return perror("lookup"), 1;
    for (int i = 0; i < JOBS; i++)
        sum += work(answer + i);
    send(client, &last, sizeof last, 0);
    waitpid(child, NULL, 0);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

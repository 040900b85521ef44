/* Follows links between records of 16 bytes; before each 5000th asks a UDP server, which takes 4 ms. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 500000, LINKS = 400000 };

static struct record {
    uint64_t key, value;
} all[RECORDS];

static void serve(int server)
{
    struct sockaddr_in client;
    socklen_t length = sizeof client;
    uint64_t name;
    while (recvfrom(server, &name, sizeof name, 0, (struct sockaddr *)&client, &length) == sizeof name && name != 0) {
        usleep(4000);
        sendto(server, &name, sizeof name, 0, (struct sockaddr *)&client, length);
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    int scattered = getenv("FIRST") != NULL, asks = getenv("SECOND") != NULL;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int server = socket(AF_INET, SOCK_DGRAM, 0), client = socket(AF_INET, SOCK_DGRAM, 0);
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || bind(server, (struct sockaddr *)&address, sizeof address) != 0)
        return perror("start"), 1;
    getsockname(server, (struct sockaddr *)&address, &length);
    if (fork() == 0)
        serve(server);
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        return perror("connect"), 1;
    if (!scattered && read(file, all, sizeof all) != sizeof all)
        return perror("read"), 1;
    uint64_t sum = 0, answer = 5, last = 0;
    for (int link = 0; link < LINKS; link++) {
        uint64_t at = (sum ^ (sum >> 29)) % RECORDS;
        struct record record = all[at];
        if (scattered && pread(file, &record, sizeof record, (off_t)(at * sizeof record)) != sizeof record)
            return perror("pread"), 1;
        if (asks && link % 5000 == 0 && (send(client, &answer, sizeof answer, 0) < 0 || recv(client, &answer, sizeof answer, 0) < 0))
            return perror("lookup"), 1;
        for (int round = 0; round < 100; round++)
            sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u + answer;
        sum = (sum ^ record.key) + record.value;
    }
    send(client, &last, sizeof last, 0);
    wait(NULL);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

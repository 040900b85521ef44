/* Sends a file to a client, a child, over a unix socket by sendfile(). */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 512 };

static void receive(int peer)
{
    static uint64_t block[32768];
    uint64_t sum = 0, total = 0;
    ssize_t length;
    while ((length = recv(peer, block, sizeof block, MSG_WAITALL)) > 0) {
        total += length;
        for (int i = 0; i < length / 8; i++)
            sum ^= (block[i] ^ (block[i] >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%llu bytes, %llx\n", (unsigned long long)total, (unsigned long long)sum);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    int file = open(count > 1 ? arguments[1] : "", O_RDONLY), ends[2];
    if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return perror("open"), 1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        receive(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (sendfile(ends[0], file, NULL, CHUNK) > 0)
        ;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return 0;
}

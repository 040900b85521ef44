#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), peer;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    bind(listener, (struct sockaddr *)&here, size);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&here, &size);
    if (fork() == 0) {
        usleep(300000);
        int client = socket(AF_INET, SOCK_STREAM, 0);
        _exit(connect(client, (struct sockaddr *)&here, size));
    }
    while ((peer = accept4(listener, NULL, NULL, 0)) < 0)
        ;
    wait(NULL);
    printf("%d\n", peer >= 0);
    return 0;
}

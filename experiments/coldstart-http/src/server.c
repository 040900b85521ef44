/*
 * The smallest server that answers: one connection after another.
 *
 *     server PORT
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 11\r\nConnection: close\r\n\r\n{\"ok\":true}";
    struct sockaddr_in address = {.sin_family = AF_INET};
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 8080));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 64) < 0) {
        perror("server");
        return 1;
    }
    for (;;) {
        char request[4096];
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        if (read(connection, request, sizeof request) > 0 &&
            write(connection, answer, sizeof answer - 1) < 0)
            perror("server: write");
        close(connection);
    }
}

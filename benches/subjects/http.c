/* A server of known speed or delays, the reference for load generators.
 *
 *   http PORT fast        one thread, epoll, 13 bytes per response
 *   http PORT stall       a thread per connection, 1 ms per response; counted from the first request,
 *                         the server answers nothing in the first second of every ten
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char ANSWER[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!";

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + t.tv_nsec;
}

static void sleep_until(uint64_t at) {
    struct timespec t = {at / 1000000000u, at % 1000000000u};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

/* Returns the number of requests that end in these bytes. Requests have no body, and the load generators
 * compared here don't split them. */
static int requests(const char *bytes, ssize_t length) {
    int count = 0;
    for (ssize_t i = 3; i < length; i++)
        count += bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n' && bytes[i - 3] == '\r';
    return count;
}

static void no_delay(int connection) {
    int one = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void fast(int listener) {
    int events = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(events, EPOLL_CTL_ADD, listener, &event);
    static char buffer[65536];
    for (;;) {
        struct epoll_event ready[256];
        int count = epoll_wait(events, ready, 256, -1);
        for (int i = 0; i < count; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (connection >= 0) {
                    no_delay(connection);
                    event.data.fd = connection;
                    epoll_ctl(events, EPOLL_CTL_ADD, connection, &event);
                }
                continue;
            }
            ssize_t got = recv(fd, buffer, sizeof buffer, 0);
            if (got <= 0) {
                if (got == 0 || errno != EAGAIN)
                    close(fd);
                continue;
            }
            for (int left = requests(buffer, got); left > 0; left--)
                if (send(fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) < 0)
                    break;
        }
    }
}

static uint64_t first_request;

static void *serve(void *argument) {
    int connection = (int)(intptr_t)argument;
    char buffer[4096];
    no_delay(connection);
    for (;;) {
        ssize_t got = recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0)
            break;
        for (int left = requests(buffer, got); left > 0; left--) {
            uint64_t at = now(), none = 0;
            /* The very first request starts the clock; it comes from the check that the server is up. */
            __atomic_compare_exchange_n(&first_request, &none, at, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
            uint64_t end = at + 1000000;
            uint64_t into = (end - first_request) % 10000000000u;
            if (into < 1000000000u && end - first_request > 1000000000u)
                end += 1000000000u - into;
            sleep_until(end);
            if (send(connection, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) < 0)
                break;
        }
    }
    close(connection);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "http PORT fast|stall\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(atoi(argv[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) {
        perror("listen");
        return 1;
    }
    if (strcmp(argv[2], "fast") == 0)
        fast(listener);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        pthread_t thread;
        if (connection >= 0 && pthread_create(&thread, NULL, serve, (void *)(intptr_t)connection) == 0)
            pthread_detach(thread);
    }
}

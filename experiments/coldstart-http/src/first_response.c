/*
 * Starts an HTTP server and measures the time from there to its first complete answer.
 *
 *     first_response COMMAND [ARGUMENT...]
 *
 * A word PORT in the command is replaced by a free port. Until the server listens, a connection is
 * tried every 100 us: what is printed can be too long by that and a connection, and not more.
 * The last number is the time less what the server's first thread was ready and had no CPU.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec PAUSE = {0, 100 * 1000};
static const double LONGEST_MS = 30000;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct sockaddr_in loopback(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static unsigned free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
        perror("first_response: no free port");
        exit(1);
    }
    close(listener);
    return ntohs(address.sin_port);
}

/* The server ends with this program, whatever ends it. */
static pid_t start(char **command)
{
    pid_t parent = getpid();
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (child < 0) {
        perror("first_response: fork");
        exit(1);
    }
    return child;
}

/* A connection, or -1 if nobody listens yet. */
static int try_connect(unsigned port)
{
    struct sockaddr_in address = loopback(port);
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof address) < 0) {
        close(connection);
        return -1;
    }
    return connection;
}

/* Bytes of the answer, which the server ends by closing. */
static ssize_t ask(int connection)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    char answer[4096];
    ssize_t total = 0, got;

    if (send(connection, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
        return -1;
    while ((got = read(connection, answer, sizeof answer)) > 0)
        total += got;
    return got < 0 ? -1 : total;
}

/* How long a process's first thread was ready to run and did not, in milliseconds. */
static double ready_ms(pid_t process)
{
    char path[64];
    unsigned long long on_cpu, ready = 0;

    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)process);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%llu %llu", &on_cpu, &ready) != 2)
            ready = 0;
        fclose(file);
    }
    return (double)ready / 1e6;
}

int main(int argc, char **argv)
{
    char port_text[16];
    unsigned port = free_port();

    if (argc < 2) {
        fprintf(stderr, "usage: first_response COMMAND [ARGUMENT...]\n");
        return 2;
    }
    snprintf(port_text, sizeof port_text, "%u", port);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "PORT") == 0)
            argv[i] = port_text;

    double begin = now_ms();
    pid_t server = start(argv + 1);
    int connection = -1;
    while ((connection = try_connect(port)) < 0) {
        if (waitpid(server, NULL, WNOHANG) == server) {
            fprintf(stderr, "first_response: the server ended before it listened\n");
            return 1;
        }
        if (now_ms() - begin > LONGEST_MS)
            break;
        nanosleep(&PAUSE, NULL);
    }
    double listening = now_ms() - begin;
    ssize_t bytes = connection < 0 ? -1 : ask(connection);
    double answered = now_ms() - begin;
    double ready = ready_ms(server);

    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    if (bytes <= 0) {
        fprintf(stderr, "first_response: no answer\n");
        return 1;
    }
    printf("listens after %.3f ms, answered after %.3f ms, undisturbed %.3f ms, %zd bytes\n",
           listening, answered, answered - ready, bytes);
    return 0;
}

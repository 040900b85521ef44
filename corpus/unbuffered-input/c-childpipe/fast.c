/* Counts the errors in a log that a child process writes into a pipe. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 40000 };

static void produce(int out)
{
    FILE *log = fdopen(out, "w");
    for (int i = 0; i < LINES; i++)
        fprintf(log, "2024-01-01 %s request %d\n", i % 9 ? "INFO" : "ERROR", i);
    fclose(log);
}

static int next_line(FILE *in, char *line, int size)
{
    if (fgets(line, size, in) == NULL)
        return 0;
    line[strcspn(line, "\n")] = 0;
    return 1;
}

static uint64_t digest(const char *line)
{
    uint64_t value = 1;
    for (; *line; line++)
        for (int round = 0; round < 8; round++)
            value = (value ^ (value >> 29) ^ *line) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return perror("pipe"), 1;
    if (fork() == 0) {
        close(ends[0]);
        produce(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    char line[512];
    int errors = 0, lines = 0;
    uint64_t sum = 0;
    for (; next_line(in, line, sizeof line) > 0; lines++) {
        errors += strstr(line, "ERROR") != NULL;
        sum ^= digest(line);
    }
    wait(NULL);
    printf("%d of %d, %llx\n", errors, lines, (unsigned long long)sum);
    return 0;
}

/* Two processes work on 40000 numbers; batches of 400 go over and back by two pipes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 40000, BATCH = 400 };

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 400; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static int receive(int file, uint64_t *batch)
{
    return read(file, batch, BATCH * sizeof *batch) == BATCH * sizeof *batch;
}

static void answer(int in, int out)
{
    uint64_t batch[BATCH];
    while (receive(in, batch)) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = work(batch[i]);
        if (write(out, batch, sizeof batch) != sizeof batch)
            return;
    }
}

int main(void)
{
    int over[2], back[2];
    if (pipe(over) != 0 || pipe(back) != 0)
        return perror("pipe"), 1;
    pid_t child = fork();
    if (child == 0) {
        close(over[1]);
        answer(over[0], back[1]);
        exit(0);
    }
    uint64_t batch[BATCH], sum = 0;
    for (int first = 0; first < NUMBERS; first += BATCH) {
        for (int i = 0; i < BATCH; i++)
            batch[i] = work(first + i + 1);
        if (write(over[1], batch, sizeof batch) != sizeof batch || !receive(back[0], batch))
            return perror("pipe"), 1;
        for (int i = 0; i < BATCH; i++)
            sum += batch[i];
    }
    close(over[1]);
    waitpid(child, NULL, 0);
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

/* A child computes and then makes a file; the parent waits for the child to end. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t compute(void)
{
    uint64_t sum = 1;
    for (int round = 0; round < 250000000; round++)
        sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pid_t child = fork();
    if (child < 0)
        return perror("fork"), 1;
    if (child == 0) {
        uint64_t sum = compute();
        int done = creat(argv[1], 0600);
        return done < 0 || dprintf(done, "%016" PRIx64 "\n", sum) < 0;
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    return unlink(argv[1]);
}

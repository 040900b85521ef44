#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char all[1 << 20];

int main(int argc, char **argv)
{
    int fd = open(argv[argc - 1], O_RDONLY);
    unsigned long long sum = 0;
    ssize_t got = read(fd, all, sizeof all);
    for (int question = 0; question < 3000; question++)
        for (ssize_t at = 0; at < got; at += 4096)
            for (ssize_t i = at; i < at + 4096 && i < got; i += 16)
                sum = sum * 31 + all[i];
    printf("%llu\n", sum);
    return 0;
}

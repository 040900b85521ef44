/* 6000 requests; the configuration is read once. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REQUESTS = 6000 };

static char text[1 << 20];

static int read_config(const char *name)
{
    int file = open(name, O_RDONLY);
    ssize_t got, size = 0;
    while (file >= 0 && (got = read(file, text + size, sizeof text - 1 - size)) > 0)
        size += got;
    text[size] = 0;
    close(file);
    return size > 0;
}

static uint64_t work(uint64_t value)
{
    for (int round = 0; round < 6000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    if (argc != 2 || !read_config(argv[1]))
        return perror("config"), 1;
    for (int i = 0; i < REQUESTS; i++)
        sum = work(sum + (unsigned char)*strchr(text, '='));
    printf("%016" PRIx64 "\n", sum);
    return 0;
}

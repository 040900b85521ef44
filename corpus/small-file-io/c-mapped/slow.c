/* An object store of one file an object. Each is mapped when it is asked for, and given back. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 100000, ROUNDS = 5 };

static char *paths[MOST];
static int objects;

static int add(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)place;
    if (kind == FTW_F && objects < MOST)
        paths[objects++] = strdup(path);
    return 0;
}

static uint64_t checksum(const unsigned char *bytes, size_t count)
{
    uint64_t value = 1;
    for (size_t i = 0; i < count; i++)
        value = (value ^ bytes[i]) * 0x100000001B3u;
    return value;
}

static uint64_t ask(const char *path)
{
    int file = open(path, O_RDONLY);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0)
        exit(1);
    void *object = mmap(NULL, info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (object == MAP_FAILED)
        exit(1);
    uint64_t value = checksum(object, info.st_size);
    munmap(object, info.st_size);
    return value;
}

int main(int count, char **arguments)
{
    if (count != 2 || nftw(arguments[1], add, 16, FTW_PHYS) != 0)
        return 1;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < objects; i++)
            sum += ask(paths[i]);
    printf("%d objects, %llx\n", objects, (unsigned long long)sum);
    return 0;
}

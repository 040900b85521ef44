/* An object store in one file. It is mapped once, and the objects, of equal length, are looked at where they are. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 200, ROUNDS = 5 };

static uint64_t checksum(const unsigned char *bytes, size_t count)
{
    uint64_t value = 1;
    for (size_t i = 0; i < count; i++)
        value = (value ^ bytes[i]) * 0x100000001B3u;
    return value;
}

int main(int count, char **arguments)
{
    int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0)
        return 1;
    const unsigned char *store = mmap(NULL, info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (store == MAP_FAILED)
        return 1;
    int objects = info.st_size / SIZE;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < objects; i++)
            sum += checksum(store + (size_t)i * SIZE, SIZE);
    printf("%d objects, %llx\n", objects, (unsigned long long)sum);
    return 0;
}

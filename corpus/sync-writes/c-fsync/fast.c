/* A journal of 2000 records; they are brought to the disk at the end. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int file = open("journal", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0)
        return perror("open"), 1;
    uint64_t value = 1;
    for (int record = 0; record < 2000; record++) {
        for (int round = 0; round < 20000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        if (write(file, &value, sizeof value) != sizeof value)
            return perror("write"), 1;
    }
    fsync(file);
    printf("%016" PRIx64 "\n", value);
    return 0;
}

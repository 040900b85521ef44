/* A write-ahead log of 800 records, each a head and a body. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RECORDS = 800 };

int main(void)
{
    int log = open("log", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    char head[32], body[200];
    uint64_t value = 1;
    for (int record = 0; record < RECORDS; record++) {
        for (int round = 0; round < 100000; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        memset(body, 'a' + value % 26, sizeof body);
        int length = snprintf(head, sizeof head, "record %d ", record);
        struct iovec parts[2] = {{head, length}, {body, sizeof body}};
        if (writev(log, parts, 2) < 0)
            return perror("log"), 1;
    }
    fdatasync(log);
    close(log);
    printf("%llx\n", (unsigned long long)value);
    return 0;
}

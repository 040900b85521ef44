#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int fd = open("journal", O_CREAT | O_WRONLY | O_TRUNC | O_SYNC, 0644);
    char record[400] = "record";
    unsigned long long value = 1;
    for (int n = 0; n < 500; n++) {
        for (int k = 0; k < 200000; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        snprintf(record, sizeof record, "record %llu", value);
        if (write(fd, record, sizeof record) != sizeof record)
            return 1;
    }
    printf("%llu\n", value);
    return 0;
}

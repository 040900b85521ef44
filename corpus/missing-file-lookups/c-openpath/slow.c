#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    unsigned long long value = 1;
    int found = 0;
    for (int header = 0; header < 400; header++) {
        for (int folder = 0; folder < 80; folder++) {
            char path[200];
            snprintf(path, sizeof path, "/usr/include/none%d/project/header%d.h", folder, header);
            int fd = open(path, O_RDONLY);
            if (fd >= 0) {
                found++;
                close(fd);
            }
        }
        for (int k = 0; k < 60000; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%d %llu\n", found, value);
    return 0;
}

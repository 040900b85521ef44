#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    unsigned long long value = 1;
    for (int i = 0; i < 400000; i++) {
        if (fcntl(1, F_GETFL) < 0 || fcntl(0, F_GETFD) < 0)
            return 1;
        for (int k = 0; k < 100; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%llu\n", value);
    return 0;
}

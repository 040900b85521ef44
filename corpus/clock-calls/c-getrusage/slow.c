#include <stdio.h>
#include <sys/resource.h>

int main(void)
{
    unsigned long long value = 1;
    struct rusage usage;
    long before = 0, steps = 0;
    for (int i = 0; i < 300000; i++) {
        for (int k = 0; k < 100; k++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        getrusage(RUSAGE_SELF, &usage);
        if (usage.ru_utime.tv_usec != before)
            steps++;
        before = usage.ru_utime.tv_usec;
    }
    printf("%llu %d\n", value, steps > 0);
    return 0;
}

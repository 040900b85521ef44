#include <stdio.h>

int main(void)
{
    unsigned long long sum = 0;
    for (int i = 0; i < 25000; i++) {
        sum = sum * 31 + i;
        for (int k = 0; k < 500; k++)
            sum = (sum ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    }
    for (volatile int k = 0; k < 60000000; k++)
        ;
    printf("%llu\n", sum);
    return 0;
}

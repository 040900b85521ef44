#include <stdio.h>

int main(void)
{
    unsigned value = 7;
    for (int i = 0; i < 40000; i++) {
        for (int k = 0; k < 500; k++)
            value = value * 1103515245u + 12345u;
        printf("%d: the value of the generator is now %u\n", i, value);
    }
    return 0;
}

#include <stdio.h>

extern unsigned library3_function5(unsigned);

int main(void)
{
    unsigned value = 1;
    for (int i = 0; i < 20000000; i++)
        value = value * 31 + library3_function5(value);
    printf("%u\n", value);
    return 0;
}

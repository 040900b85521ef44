/* A sum by functions of 250 libraries, all of which the program is linked with. */
#include <stdio.h>

extern unsigned (*const library0_table[200])(unsigned);

int main(void)
{
    unsigned value = 1;
    for (int round = 0; round < 40000; round++)
        for (int i = 0; i < 200; i++)
            value = library0_table[i](value);
    printf("%u\n", value);
    return 0;
}

/* Random numbers on one line; standard output is buffered. */
#include <stdio.h>

int main(void)
{
    unsigned state = 1;
    for (int i = 0; i < 800000; i++) {
        state = state * 1664525u + 1013904223u;
        printf("%u ", state >> 20);
    }
    printf("\n");
    return 0;
}

/* Random numbers on one line; standard output has no buffer. */
#include <stdio.h>

int main(void)
{
    unsigned state = 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 800000; i++) {
        state = state * 1664525u + 1013904223u;
        printf("%u ", state >> 20);
    }
    printf("\n");
    return 0;
}

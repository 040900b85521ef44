/* A log of half a million lines; each is flushed. */
#include <stdio.h>

int main(void)
{
    unsigned state = 1;
    for (int i = 0; i < 500000; i++) {
        state = state * 1664525u + 1013904223u;
        printf("item %06d has value %010u and state %s\n", i, state, state & 1024 ? "ready" : "waiting");
        fflush(stdout);
    }
    return 0;
}

/*
 * The same lines by printf(): C's stdout buffers blocks unless it is a terminal.
 *
 *     lines COUNT
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: lines COUNT\n");
        return 2;
    }
    unsigned long count = strtoul(argv[1], NULL, 10);

    for (unsigned long n = 0; n < count; n++)
        printf("{event, %06lu}\n", n % 1000000);
    return 0;
}

/* Imitates a code generator and its buffers: reserves one for each tree, writes code into it, keeps it.
 *
 * Usage: reserve four|fit NODES TREES
 * `four` reserves four bytes per node, `fit` max(32, NODES). The code is 4/17 of a byte per node, so `four` reserves
 * 17 times too much, the middle of the published 10 to 25. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    if (count != 4) return 2;
    size_t nodes = strtoul(arguments[2], NULL, 10), trees = strtoul(arguments[3], NULL, 10);
    size_t fit = nodes > 32 ? nodes : 32;
    size_t reserved = strcmp(arguments[1], "four") == 0 ? 4 * nodes : fit;
    size_t used = 4 * nodes / 17;
    for (size_t tree = 0; tree < trees; tree++) {
        char *code = malloc(reserved);
        if (code == NULL) return 1;
        memset(code, 0x90, used);
        __asm__ volatile("" : : "r"(code) : "memory");
    }
    printf("reserved %zu used %zu\n", reserved * trees, used * trees);
    return 0;
}

/* Looks for 250,000 plug-ins that aren't there, and counts in a table of 480 MiB. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ENTRIES = 120000 };

int main(void)
{
    size_t spread = getenv("FIRST") ? 1024 : 1;
    int found = 0, lookups = getenv("SECOND") ? 250000 : 1;
    uint32_t *table = malloc(ENTRIES * spread * sizeof *table);
    if (table == NULL)
        return perror("malloc"), 1;
    uint64_t value = 1;
    for (size_t i = 0; i < ENTRIES; i++) {
        for (int round = 0; round < 400; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        table[i * spread] = value;
    }
    for (int i = 0; i < lookups; i++) {
        char path[64];
        snprintf(path, sizeof path, "/usr/lib/plugin_%d.so", i);
        found += access(path, F_OK) == 0;
    }
    printf("%d %" PRIu32 "\n", found, table[(ENTRIES - 1) * spread]);
    return 0;
}

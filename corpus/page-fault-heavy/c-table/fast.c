/* Fill a table with no gaps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 120000, SPREAD = 1 };

int main(void)
{
    uint32_t *table = malloc((size_t)ENTRIES * SPREAD * sizeof *table);
    if (table == NULL)
        return perror("malloc"), 1;
    uint64_t value = 1;
    for (size_t i = 0; i < ENTRIES; i++) {
        for (int round = 0; round < 400; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
        table[i * SPREAD] = value;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < ENTRIES; i++)
        sum += table[i * SPREAD];
    printf("%016" PRIx64 "\n", sum);
    free(table);
    return 0;
}

/* Exports 120000 rows into a named pipe, from which an importer reads. */
#include <stdint.h>
#include <stdio.h>

static uint64_t mix(uint64_t value)
{
    for (int round = 0; round < 400; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(int count, char **arguments)
{
    FILE *out = fopen(count > 1 ? arguments[1] : "", "w");
    if (out == NULL)
        return perror("open"), 1;
    setvbuf(out, NULL, _IOFBF, 65536);
    uint64_t sum = 0;
    for (int row = 0; row < 120000; row++) {
        sum += mix(row);
        fprintf(out, "%d,row number %d,%016llx\n", row, row * 3, (unsigned long long)sum);
    }
    fclose(out);
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}

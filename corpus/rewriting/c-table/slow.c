/* A table of counters is written whole for each line that is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned counts[4096];

static void save(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) exit(1);
    for (int i = 0; i < 4096; i++) fprintf(file, "%d %u\n", i, counts[i]);
    fclose(file);
}

int main(int argc, char **argv) {
    char path[4096];
    unsigned sum = 0;
    if (argc < 2) return 2;
    snprintf(path, sizeof path, "%s/counts", argv[1]);
    for (unsigned i = 0; i < 900; i++) {
        counts[i * 2654435761u >> 20]++;
        save(path);
    }
    for (int i = 0; i < 4096; i++) sum += counts[i];
    printf("%u\n", sum);
    return 0;
}

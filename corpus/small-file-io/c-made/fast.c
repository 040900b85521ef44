/* A renderer that puts its map tiles into one file, one after another. */
#include <stdint.h>
#include <stdio.h>

enum { LEVELS = 100, TILES = 120, SIZE = 400 };

static void draw(unsigned char *tile, uint32_t seed)
{
    for (int i = 0; i < SIZE; i++) {
        seed = seed * 1664525u + 1013904223u;
        tile[i] = seed >> 24;
    }
}

int main(int count, char **arguments)
{
    unsigned char tile[SIZE];
    FILE *archive = count == 2 ? fopen(arguments[1], "wb") : NULL;
    if (archive == NULL)
        return 1;
    for (int number = 0; number < LEVELS * TILES; number++) {
        draw(tile, number);
        if (fwrite(tile, SIZE, 1, archive) != 1)
            return 1;
    }
    if (fclose(archive) != 0)
        return 1;
    printf("%d tiles\n", LEVELS * TILES);
    return 0;
}

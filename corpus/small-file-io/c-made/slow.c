/* A renderer that keeps each of its map tiles as a file of its own. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    char path[4096];
    if (count != 2)
        return 1;
    mkdir(arguments[1], 0755);
    for (int level = 0; level < LEVELS; level++) {
        snprintf(path, sizeof path, "%s/%d", arguments[1], level);
        mkdir(path, 0755);
        for (int number = 0; number < TILES; number++) {
            draw(tile, level * TILES + number);
            snprintf(path, sizeof path, "%s/%d/%d.tile", arguments[1], level, number);
            int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            if (file < 0 || write(file, tile, SIZE) != SIZE)
                return 1;
            close(file);
        }
    }
    printf("%d tiles\n", LEVELS * TILES);
    return 0;
}

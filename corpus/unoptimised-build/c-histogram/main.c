/* Counts the bytes of a made-up text, and the longest run of one byte, again and again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE (1 << 20)
#define PASSES 60

struct counts {
    uint32_t of_byte[256];
    uint32_t longest_run;
};

static void fill(uint8_t *text, size_t size) {
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        text[i] = (uint8_t)(state >> 27);
    }
}

static void count(const uint8_t *text, size_t size, struct counts *counts) {
    uint32_t run = 0;
    for (size_t i = 0; i < size; i++) {
        counts->of_byte[text[i]]++;
        run = i > 0 && text[i] == text[i - 1] ? run + 1 : 1;
        if (run > counts->longest_run)
            counts->longest_run = run;
    }
}

int main(void) {
    uint8_t *text = malloc(SIZE);
    struct counts counts = {{0}, 0};
    if (!text)
        return 1;
    fill(text, SIZE);
    for (int pass = 0; pass < PASSES; pass++)
        count(text, SIZE, &counts);
    printf("%u %u\n", counts.of_byte[7], counts.longest_run);
    free(text);
    return 0;
}

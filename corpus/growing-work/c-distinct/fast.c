/* Prints how many different lines standard input has, and a checksum of all lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    char *text;
    struct line *next;
};

enum { SLOTS = 1 << 16 };
static struct line *slots[SLOTS];

static int is_new(const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    struct line **lines = &slots[(hash ^ hash >> 16) % SLOTS];
    for (struct line *it = *lines; it; it = it->next)
        if (strcmp(it->text, text) == 0)
            return 0;
    struct line *it = malloc(sizeof *it);
    it->text = strdup(text);
    it->next = *lines;
    *lines = it;
    return 1;
}

static uint64_t sum_of(const char *text)
{
    uint64_t sum = 0;
    for (int round = 0; round < 60; round++)
        for (const char *at = text; *at; at++)
            sum = sum * 31 + (unsigned char)*at;
    return sum;
}

int main(void)
{
    char text[4096];
    uint64_t sum = 0;
    int count = 0;
    while (fgets(text, sizeof text, stdin)) {
        sum ^= sum_of(text);
        count += is_new(text);
    }
    printf("%d %llx\n", count, (unsigned long long)sum);
    return 0;
}

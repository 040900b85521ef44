/* A queue of jobs; a node is allocated for each and freed after it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct job *next;
    uint64_t value;
    char *name;
};

int main(void)
{
    uint64_t state = 7, sum = 0;
    for (int batch = 0; batch < 36000; batch++) {
        struct job *first = NULL;
        for (int job = 0; job < 400; job++) {
            state = state * 6364136223846793005u + 1;
            struct job *made = malloc(sizeof *made);
            if (!made)
                return 1;
            made->name = malloc(24 + (state >> 59));
            if (!made->name)
                return 1;
            made->name[0] = (char)(state >> 40);
            made->value = state >> 33;
            made->next = first;
            first = made;
        }
        while (first) {
            struct job *done = first;
            sum += done->value ^ (uint64_t)(unsigned char)done->name[0];
            first = done->next;
            free(done->name);
            free(done);
        }
    }
    printf("%" PRIu64 "\n", sum);
    return 0;
}

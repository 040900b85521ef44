/* A queue of jobs; the nodes of a batch lie in one array that the next batch uses again. */
#include <inttypes.h>
#include <stdio.h>

struct job {
    struct job *next;
    uint64_t value;
    char name[64];
};

int main(void)
{
    static struct job jobs[400];
    uint64_t state = 7, sum = 0;
    for (int batch = 0; batch < 36000; batch++) {
        struct job *first = NULL;
        for (int job = 0; job < 400; job++) {
            state = state * 6364136223846793005u + 1;
            struct job *made = &jobs[job];
            made->name[0] = (char)(state >> 40);
            made->value = state >> 33;
            made->next = first;
            first = made;
        }
        for (struct job *done = first; done; done = done->next)
            sum += done->value ^ (uint64_t)(unsigned char)done->name[0];
    }
    printf("%" PRIu64 "\n", sum);
    return 0;
}

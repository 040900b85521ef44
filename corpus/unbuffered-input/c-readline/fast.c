/* Scores each line of standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    unsigned long long score = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) >= 0) {
        if (length && line[length - 1] == '\n')
            length--;
        for (int round = 0; round < 300; round++)
            for (ssize_t i = 0; i < length; i++)
                score = score * 31 + (unsigned char)line[i] + round;
    }
    free(line);
    printf("%llu\n", score);
    return 0;
}

/* Scores each line of standard input. */
#include <stdio.h>
#include <unistd.h>

static int read_line(char *line, int room)
{
    int length = 0;
    char c;
    while (length < room - 1 && read(STDIN_FILENO, &c, 1) == 1) {
        if (c == '\n')
            return length;
        line[length++] = c;
    }
    return length ? length : -1;
}

int main(void)
{
    char line[4096];
    unsigned long long score = 0;
    int length;
    while ((length = read_line(line, sizeof line)) >= 0) {
        for (int round = 0; round < 300; round++)
            for (int i = 0; i < length; i++)
                score = score * 31 + (unsigned char)line[i] + round;
    }
    printf("%llu\n", score);
    return 0;
}

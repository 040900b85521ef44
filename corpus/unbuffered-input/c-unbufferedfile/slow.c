#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[argc - 1], "r");
    unsigned long long sum = 0;
    int c;
    setbuf(file, NULL);
    while ((c = getc(file)) != EOF)
        for (int k = 0; k < 100; k++)
            sum = sum * 31 + c + k;
    printf("%llu\n", sum);
    return 0;
}

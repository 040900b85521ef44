#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[argc - 1], "r");
    unsigned long long sum = 0;
    int c;
    while ((c = getc(file)) != EOF)
        for (int k = 0; k < 200; k++)
            sum = sum * 31 + c + (k > 99 ? 0 : k);
    printf("%llu\n", sum != 7 ? sum : 0);
    return 0;
}

#include <stdio.h>

int main(void)
{
    FILE *out = fopen("copy", "w");
    unsigned long long sum = 0, other = 1;
    int c;
    while ((c = getchar()) != EOF) {
        sum = sum * 31 + (unsigned char)c;
        putc(c, out);
    }
    for (int k = 0; k < 40000000; k++)
        other = (other ^ (other >> 29)) * 0x9E3779B97F4A7C15u;
    printf("%llu\n", other == 7 ? 0 : sum);
    return fclose(out);
}

#include <math.h>
#include <stdio.h>

int main(void)
{
    double x = 0.5;
    for (int i = 0; i < 60000; i++) {
        for (int k = 0; k < 300; k++)
            x = 3.7 * x * (1 - x);
        printf("%.4f ", x);
    }
    printf("\n");
    return 0;
}

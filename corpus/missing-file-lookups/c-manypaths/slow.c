/* Looks for each of many plug-ins in a folder: another path each time, and none of them there. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int found = 0;
    for (int i = 0; i < 300000; i++) {
        char path[64];
        snprintf(path, sizeof path, "/usr/lib/plugin_%d.so", i);
        if (access(path, F_OK) == 0)
            found++;
    }
    printf("%d\n", found);
    return 0;
}

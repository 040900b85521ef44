/* Looks for each of many plug-ins in a folder, by reading the folder once. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int is_wanted(const char *name)
{
    int number = 0;
    char whole[64];
    if (sscanf(name, "plugin_%d.so", &number) != 1)
        return 0;
    snprintf(whole, sizeof whole, "plugin_%d.so", number);
    return number >= 0 && number < 300000 && strcmp(whole, name) == 0;
}

int main(void)
{
    int found = 0;
    unsigned long work = 1;
    DIR *folder = opendir("/usr/lib");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        found += is_wanted(entry->d_name);
    if (folder)
        closedir(folder);
    for (long i = 0; i < 100000000; i++) {
        work = work * 6364136223846793005UL + 1442695040888963407UL;
        __asm__ volatile("" : "+r"(work));
    }
    printf("%d\n", found);
    return 0;
}

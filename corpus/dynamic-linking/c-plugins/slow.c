/* Load 800 plugins, and use one of them. */
#include <dlfcn.h>
#include <stdio.h>

enum { PLUGINS = 800 };

typedef unsigned (*const *table_of_functions)(unsigned);

int main(int argc, char **argv)
{
    table_of_functions table = NULL;
    for (int i = 0; argc == 2 && i < PLUGINS; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/liblibrary%d.so", argv[1], i);
        void *plugin = dlopen(name, RTLD_NOW);
        if (plugin == NULL)
            return fprintf(stderr, "%s\n", dlerror()), 1;
        if (i == 0)
            table = (table_of_functions)dlsym(plugin, "library0_table");
    }
    if (table == NULL)
        return fprintf(stderr, "usage: plugins FOLDER\n"), 1;
    unsigned value = 1;
    for (int round = 0; round < 240000; round++)
        for (int i = 0; i < 50; i++)
            value = table[i](value);
    printf("%u\n", value);
    return 0;
}

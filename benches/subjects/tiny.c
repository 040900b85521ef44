// A small static program that prints its own peak memory: its VmHWM line.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    static char text[4096];
    int status = open("/proc/self/status", O_RDONLY);
    long got = read(status, text, sizeof text - 1);
    char *line = got > 0 ? strstr(text, "VmHWM:") : 0;
    char *end = line ? strchr(line, '\n') : 0;
    if (!end) return 1;
    return write(1, line, end + 1 - line) == end + 1 - line ? 0 : 1;
}

/* Work on two million items; now and then the terminal is asked for its width. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ITEMS = 2000000, EVERY = 10000 };

int main(void)
{
    struct winsize size = {0};
    uint64_t value = 1;
    for (int item = 0; item < ITEMS; item++) {
        if (item % EVERY == 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
            size.ws_col = 80;
        for (int round = 0; round < 20; round++)
            value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    }
    printf("%016" PRIx64 "\n", value);
    return 0;
}

/* Three checksums, side by side in one loop of one process. */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t value[3] = {1, 2, 3};
    for (int round = 0; round < 100000000; round++)
        for (int part = 0; part < 3; part++)
            value[part] = (value[part] ^ (value[part] >> 29)) * 0x9E3779B97F4A7C15u;
    for (int part = 0; part < 3; part++)
        printf("%016" PRIx64 "\n", value[part]);
    return 0;
}

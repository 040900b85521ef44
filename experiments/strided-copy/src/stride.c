/* Copies every stride-th byte of an array, for strides around the length of a cache line.
 *
 * Usage: stride written|unwritten [SIZE_IN_MIB]
 *
 * `unwritten` leaves the source as the kernel provides it. Linux maps every such page to one page of zeros, so all
 * reads then hit 4 KiB of cache and only the writes are timed.
 *
 * The strides take turns, so disturbances affect all of them. Prints the best of all turns within a second,
 * at least five.
 */
#include "measure.h"

enum { LEAST_TURNS = 5 };
static const double SECONDS = 1;

static const int strides[] = {16, 32, 64, 65, 128, 129, 192, 255, 256, 257, 511, 512, 1023, 2047, 4095};

typedef struct {
    const uint8_t *source;
    uint8_t *target;
    size_t size;
    size_t stride;
} Copy;

static void copy_strided(void *context) {
    const Copy *copy = context;
    const uint8_t *source = copy->source;
    uint8_t *target = copy->target;
    size_t size = copy->size, stride = copy->stride;
    for (size_t i = 0; i < size; i += stride) target[i] = source[i];
    keep_memory(target);
}

static void check_copy(const Copy *copy) {
    memset(copy->target, 255, copy->size);
    copy_strided((void *)copy);
    for (size_t i = 0; i < copy->size; i++) {
        uint8_t expected = i % copy->stride == 0 ? copy->source[i] : 255;
        if (copy->target[i] != expected) check(0, "the copy");
    }
}

int main(int count, char **arguments) {
    const char *variant = count > 1 ? arguments[1] : "";
    int written = strcmp(variant, "written") == 0;
    size_t size = (size_t)(count > 2 ? atol(arguments[2]) : 32) << 20;
    if (size == 0 || (!written && strcmp(variant, "unwritten") != 0)) {
        fprintf(stderr, "usage: stride written|unwritten [SIZE_IN_MIB]\n");
        return 2;
    }
    uint8_t *source = calloc(size, 1), *target = malloc(size);
    if (source == NULL || target == NULL) return 1;
    for (size_t i = 0; written && i < size; i++) source[i] = (uint8_t)(i * 7 + i / 251);
    check_copy(&(Copy){source, target, size, 129});
    enum { STRIDES = sizeof strides / sizeof *strides };
    double best[STRIDES];
    double end = clock_seconds() + SECONDS;
    for (int turn = 0; turn < LEAST_TURNS || clock_seconds() < end; turn++) {
        for (size_t i = 0; i < STRIDES; i++) {
            Copy copy = {source, target, size, (size_t)strides[i]};
            double before = clock_seconds();
            copy_strided(&copy);
            double seconds = clock_seconds() - before;
            if (turn == 0 || seconds < best[i]) best[i] = seconds;
        }
    }
    for (size_t i = 0; i < STRIDES; i++) printf("stride_%d_max %.5g GB/s\n", strides[i], (double)size / best[i] * 1e-9);
    return 0;
}

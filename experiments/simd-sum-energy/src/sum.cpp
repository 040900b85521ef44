// Repeatedly adds up floats, one at a time or in vectors, for a given time. Prints the time per value and, if the
// processor counts its energy (RAPL), the energy per value and the power.
//
// Usage: sum scalar|vector MIB SECONDS
//
// `scalar` is one addition per value in one chain, as the published scalar form was compiled. `vector` uses the widest
// vectors that the build's -m options allow: 4, 8 or 16 floats, in four independent chains.
#include <math.h>

#include "measure.h"

#if defined(__AVX512F__)
enum { WIDTH = 16 };
#elif defined(__AVX2__)
enum { WIDTH = 8 };
#else
enum { WIDTH = 4 };
#endif
typedef float Vector __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4)));

extern "C" {
__attribute__((noinline)) float sum_scalar(const float *values, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

__attribute__((noinline)) float sum_vector(const float *values, size_t count) {
    Vector a = {}, b = {}, c = {}, d = {};
    size_t i = 0;
    for (; i + 4 * WIDTH <= count; i += 4 * WIDTH) {
        a += *(const Vector *)(values + i);
        b += *(const Vector *)(values + i + WIDTH);
        c += *(const Vector *)(values + i + 2 * WIDTH);
        d += *(const Vector *)(values + i + 3 * WIDTH);
    }
    a = (a + b) + (c + d);
    float sum = 0;
    for (int lane = 0; lane < WIDTH; lane++) sum += a[lane];
    for (; i < count; i++) sum += values[i];
    return sum;
}
}

static const char *const COUNTER = "/sys/class/powercap/intel-rapl:0/energy_uj";

// Returns the microjoules used by the package since some fixed point, or NAN if the machine doesn't report them.
static double package_energy() {
    double energy = NAN;
    FILE *file = fopen(COUNTER, "r");
    if (file != nullptr) {
        if (fscanf(file, "%lf", &energy) != 1) energy = NAN;
        fclose(file);
    }
    return energy;
}

int main(int count, char **arguments) {
    bool vector = count == 4 && !strcmp(arguments[1], "vector");
    size_t bytes = count == 4 ? (size_t)atol(arguments[2]) << 20 : 0;
    double seconds = count == 4 ? atof(arguments[3]) : 0;
    if (bytes == 0 || seconds <= 0 || (!vector && strcmp(arguments[1], "scalar"))) {
        fprintf(stderr, "usage: sum scalar|vector MIB SECONDS\n");
        return 2;
    }
    size_t length = bytes / sizeof(float);
    float *values = (float *)malloc(bytes);
    if (values == nullptr) {
        perror("malloc");
        return 1;
    }
    // A few ones among zeros: every partial sum is below 2^24, so all orders of addition give the same float.
    uint64_t ones = 0;
    for (size_t i = 0; i < length; i++) ones += (values[i] = i % 64 == 0) != 0;
    check(ones < 1 << 24, "the sum is exact");
    float (*sum)(const float *, size_t) = vector ? sum_vector : sum_scalar;
    check(sum(values, length) == (float)ones, "the sum");

    double energy_before = package_energy(), time_before = clock_seconds();
    size_t passes = 0;
    Timing timing = repeat(seconds, [&] {
        keep_value((uint64_t)sum(values, length));
        passes++;
    });
    double energy = package_energy() - energy_before, time = clock_seconds() - time_before;
    print_time("value", timing, (double)length);
    printf("width %d floats\n", vector ? WIDTH : 1);
    // The counter wraps after some hundred kilojoules; a run with a wrap reports no energy.
    if (energy > 0) {
        printf("energy_value %.5g nJ\n", energy * 1e3 / ((double)passes * (double)length));
        printf("power %.5g W\n", energy * 1e-6 / time);
    }
}

// Reads one byte of every 64 from a large array, with one thread up to one per processor, and prints the speed over
// the whole array. Reading one byte loads its whole cache line.
//
// Usage: bandwidth SIZE_IN_MIB THREADS   (0 threads: one per processor)
#include <atomic>
#include <thread>
#include <vector>

#include "measure.h"

static const size_t LINE = 64;

static uint64_t sum_lines(const uint8_t *from, const uint8_t *to) {
    uint64_t sum = 0;
    for (const uint8_t *byte = from; byte < to; byte += LINE) sum += *byte;
    return sum;
}

static uint64_t sum_in_parallel(const uint8_t *bytes, size_t size, size_t threads) {
    std::atomic<uint64_t> total{0};
    std::vector<std::thread> running;
    size_t part = size / threads / LINE * LINE;
    for (size_t i = 0; i < threads; i++) {
        const uint8_t *from = bytes + i * part, *to = i + 1 == threads ? bytes + size : from + part;
        running.emplace_back([&total, from, to] { total += sum_lines(from, to); });
    }
    for (std::thread &thread : running) thread.join();
    return total;
}

int main(int count, char **arguments) {
    size_t size = count > 1 ? (size_t)atol(arguments[1]) << 20 : 0;
    size_t threads = count > 2 ? (size_t)atol(arguments[2]) : 1;
    if (threads == 0) threads = std::thread::hardware_concurrency();
    if (size == 0 || threads == 0 || threads > 1024) {
        fprintf(stderr, "usage: bandwidth SIZE_IN_MIB THREADS\n");
        return 2;
    }
    uint8_t *bytes = (uint8_t *)malloc(size);
    if (bytes == nullptr) {
        perror("malloc");
        return 1;
    }
    // Write to every page, so that none is the kernel's shared page of zeros.
    uint64_t expected = 0;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i >> 6);
    for (size_t i = 0; i < size; i += LINE) expected += bytes[i];
    check(sum_in_parallel(bytes, size, threads) == expected, "the sum");
    Timing timing = repeat(0.8, [&] { keep_value(sum_in_parallel(bytes, size, threads)); });
    printf("threads %zu threads\n", threads);
    print_speed("read", timing, (double)size);
}

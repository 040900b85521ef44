// Filters a hundred frames of 40 MiB, with one buffer for all.
#include <cstdio>
#include <cstring>
#include <memory>

int main() {
    constexpr size_t BYTES = 40u << 20;
    constexpr int FRAMES = 100;
    unsigned long sum = 0;
    std::unique_ptr<unsigned char[]> frame(new unsigned char[BYTES]);
    for (int i = 0; i < FRAMES; i++) {
        memset(frame.get(), i, BYTES);
        sum += frame[i * 1000] + frame[BYTES - 1];
    }
    printf("%lu\n", sum);
}

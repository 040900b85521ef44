// Loads a catalogue: one file with the small descriptions of all products, of equal length.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

static std::uint64_t digest(const std::string &text)
{
    std::uint64_t value = 1;
    for (unsigned char c : text)
        for (int round = 0; round < 12; round++)
            value = (value ^ (value >> 29) ^ c) * 0x9E3779B97F4A7C15u;
    return value;
}

int main(int, char **arguments)
{
    std::uint64_t sum = 0;
    int products = 0;
    std::ifstream file(arguments[1], std::ios::binary);
    std::string text(200, ' ');
    while (file.read(text.data(), text.size())) {
        sum += digest(text);
        products++;
    }
    std::printf("%d products, %llx\n", products, static_cast<unsigned long long>(sum));
}

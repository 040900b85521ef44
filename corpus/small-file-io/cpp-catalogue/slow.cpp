// Loads a catalogue: one small description in a file of its own for each product.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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
    for (const auto &entry : std::filesystem::recursive_directory_iterator(arguments[1])) {
        if (!entry.is_regular_file())
            continue;
        std::ifstream file(entry.path(), std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        sum += digest(text);
        products++;
    }
    std::printf("%d products, %llx\n", products, static_cast<unsigned long long>(sum));
}

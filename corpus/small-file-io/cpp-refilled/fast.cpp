// Looks up readings of a table by their numbers, in memory.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

constexpr int kLookups = 120000;
constexpr int kRecord = 16;

int main(int count, char **arguments) {
    if (count != 2) return 1;
    std::ifstream file(arguments[1], std::ios::binary);
    file.seekg(0, std::ios::end);
    std::vector<char> table(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    if (!file.read(table.data(), static_cast<std::streamsize>(table.size()))) return 1;
    const std::uint32_t records = static_cast<std::uint32_t>(table.size()) / kRecord;
    std::uint32_t number = 7;
    std::uint64_t sum = 0;
    for (int i = 0; i < kLookups; i++) {
        number = number * 1664525u + 1013904223u;
        const char *record = &table[static_cast<std::size_t>((number >> 8) % records) * kRecord];
        for (int round = 0; round < 20; round++)
            for (int at = 0; at < kRecord; at++)
                sum = (sum ^ static_cast<unsigned char>(record[at])) * 0x100000001b3ull;
    }
    std::cout << std::hex << sum << '\n';
}

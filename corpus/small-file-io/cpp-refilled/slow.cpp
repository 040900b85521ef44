// Looks up readings of a table by their numbers, through a stream that is set to each.
#include <cstdint>
#include <fstream>
#include <iostream>

constexpr int kLookups = 120000;
constexpr int kRecord = 16;

int main(int count, char **arguments) {
    if (count != 2) return 1;
    std::ifstream table(arguments[1], std::ios::binary);
    table.seekg(0, std::ios::end);
    const std::uint32_t records = static_cast<std::uint32_t>(table.tellg()) / kRecord;
    std::uint32_t number = 7;
    std::uint64_t sum = 0;
    for (int i = 0; i < kLookups; i++) {
        number = number * 1664525u + 1013904223u;
        char record[kRecord];
        table.seekg(static_cast<std::streamoff>((number >> 8) % records) * kRecord);
        if (!table.read(record, kRecord)) return 1;
        for (int round = 0; round < 20; round++)
            for (char byte : record) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
    }
    std::cout << std::hex << sum << '\n';
}

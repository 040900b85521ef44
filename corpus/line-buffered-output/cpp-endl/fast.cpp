// Prints a report of 400000 lines.
#include <cstdint>
#include <iostream>

int main()
{
    std::uint32_t count = 1;
    for (int bucket = 0; bucket < 400000; bucket++) {
        count = count * 1664525u + 1013904223u;
        std::cout << "bucket " << bucket << " count " << (count >> 12) << '\n';
    }
}

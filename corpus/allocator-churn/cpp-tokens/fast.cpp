// Counts the words of standard input by length, where they lie in their line.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

int main()
{
    std::ios::sync_with_stdio(false);
    std::string line;
    std::uint64_t sums[64] = {};
    constexpr std::size_t before = std::string_view("the word is: ").size();
    while (std::getline(std::cin, line)) {
        for (std::size_t from = 0; from < line.size();) {
            std::size_t to = line.find(' ', from);
            if (to == std::string::npos)
                to = line.size();
            std::string_view word(line.data() + from, to - from);
            char last = word.empty() ? ' ' : word.back();
            sums[(before + word.size()) & 63] += static_cast<unsigned char>(last);
            from = to + 1;
        }
    }
    std::uint64_t sum = 0;
    for (std::uint64_t one : sums)
        sum = sum * 31 + one;
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

// Counts the words of standard input by length; each word is a string of its own, in a vector of its line.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

int main()
{
    std::ios::sync_with_stdio(false);
    std::string line;
    std::uint64_t sums[64] = {};
    while (std::getline(std::cin, line)) {
        std::vector<std::string> words;
        for (std::size_t from = 0; from < line.size();) {
            std::size_t to = line.find(' ', from);
            if (to == std::string::npos)
                to = line.size();
            words.push_back("the word is: " + line.substr(from, to - from));
            from = to + 1;
        }
        for (const std::string &word : words)
            sums[word.size() & 63] += static_cast<unsigned char>(word.back());
    }
    std::uint64_t sum = 0;
    for (std::uint64_t one : sums)
        sum = sum * 31 + one;
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

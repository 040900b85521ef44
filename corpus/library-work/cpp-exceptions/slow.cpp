// Adds up the numbers among the words of standard input; what is not a number is found by the exception.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

static std::uint64_t number(const std::string &word)
{
    try {
        return std::stoull(word);
    } catch (const std::invalid_argument &) {
        return 1;
    }
}

int main()
{
    std::ios::sync_with_stdio(false);
    std::string word;
    std::uint64_t sum = 0;
    while (std::cin >> word)
        sum += number(word);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

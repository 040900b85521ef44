// Adds up the numbers among the words of standard input; what is not a number is found by its first character.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

static std::uint64_t number(const std::string &word)
{
    std::uint64_t found = 1;
    std::from_chars(word.data(), word.data() + word.size(), found);
    return found;
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

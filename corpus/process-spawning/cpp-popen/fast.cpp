// Brings 150 host names into lower case, and works on each.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <string>

static std::string lower(std::string name)
{
    for (char &c : name)
        c = std::tolower(static_cast<unsigned char>(c));
    return name;
}

static std::uint64_t work(const std::string &name)
{
    std::uint64_t value = 1;
    for (unsigned char c : name)
        for (int round = 0; round < 10000; round++)
            value = (value ^ (value >> 29) ^ c) * 0x9E3779B97F4A7C15u;
    return value;
}

int main()
{
    std::uint64_t sum = 0;
    for (int host = 0; host < 150; host++)
        sum += work(lower("HOST-" + std::to_string(host) + ".Example.ORG"));
    std::printf("%llx\n", static_cast<unsigned long long>(sum));
}

// Brings 150 host names into lower case, and works on each.
#include <cstdint>
#include <cstdio>
#include <string>

static std::string lower(const std::string &name)
{
    std::FILE *pipe = popen(("echo " + name + " | tr A-Z a-z").c_str(), "r");
    char line[256] = "";
    if (std::fgets(line, sizeof line, pipe) == nullptr)
        line[0] = 0;
    pclose(pipe);
    std::string result = line;
    return result.substr(0, result.find('\n'));
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

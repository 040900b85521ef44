// Hashes a file byte by byte, and asks a program for each of 150 names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

int main()
{
    const bool bytes = std::getenv("FIRST"), programs = std::getenv("SECOND");
    std::uint64_t sum = 0;
    char letter;
    while ((bytes ? read(0, &letter, 1) : static_cast<ssize_t>(std::fread(&letter, 1, 1, stdin))) == 1)
        for (int round = 0; round < 40; round++)
            sum = (sum ^ static_cast<unsigned char>(letter) ^ (sum >> 29)) * 0x9E3779B97F4A7C15u;
    for (int item = 0; item < 150; item++) {
        std::string name = "item" + std::to_string(item);
        char buffer[64] = "";
        if (programs) {
            FILE *answer = popen(("basename /srv/data/" + name).c_str(), "r");
            if (!answer || !std::fgets(buffer, sizeof buffer, answer) || pclose(answer) != 0)
                return 1;
            name = std::string(buffer, name.size());
        }
        sum += name.back();
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

// Writes the longest word of each line of standard input; each word is a string of its own.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

template <class Word> static std::string longest(const std::string &line, std::vector<Word> words)
{
    for (std::size_t from = 0; from < line.size();) {
        std::size_t to = line.find(' ', from);
        if (to == std::string::npos)
            to = line.size();
        words.push_back(Word(line.data() + from, to - from));
        from = to + 1;
    }
    const Word *best = nullptr;
    for (const Word &word : words)
        if (!best || word.size() > best->size())
            best = &word;
    return best ? std::string(best->data(), best->size()) : std::string();
}

// A word as it is shown: longer than what fits into the string itself.
struct Shown : std::string {
    Shown(const char *word, std::size_t size) : std::string("the word is: " + std::string(word, size)) {}
};

int main()
{
    const bool flushes = std::getenv("FIRST"), owns = std::getenv("SECOND");
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::string word = owns ? longest<Shown>(line, {}).substr(13) : longest<std::string_view>(line, {});
        std::cout << word << '\n';
        if (flushes)
            std::cout << std::flush;
    }
}

// Prime numbers by sieve, and the sum of the digits of each.
#include <cstdio>
#include <vector>

static int digits(int number) {
    int sum = 0;
    for (; number > 0; number /= 10)
        sum += number % 10;
    return sum;
}

int main() {
    const int limit = 2000000;
    long sum = 0;
    for (int round = 0; round < 6; round++) {
        std::vector<char> composite(limit + 1, 0);
        std::vector<int> primes;
        for (int i = 2; i <= limit; i++) {
            if (composite[i])
                continue;
            primes.push_back(i);
            for (long j = static_cast<long>(i) * i; j <= limit; j += i)
                composite[j] = 1;
        }
        for (int prime : primes)
            sum += digits(prime);
    }
    std::printf("%ld\n", sum);
}

// Loads eight plugins: a thread prepares each while the main thread reads its settings, then waits for it.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int ready;
static std::uint64_t results[8];

static std::uint64_t work(std::uint64_t value, int rounds)
{
    for (int round = 0; round < rounds; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

static void prepare(int plugin)
{
    results[plugin] = work(plugin, 16000000);
    std::lock_guard<std::mutex> guard(lock);
    ready = plugin + 1;
    changed.notify_one();
}

int main()
{
    std::uint64_t sum = 0;
    for (int plugin = 0; plugin < 8; plugin++) {
        std::thread thread(prepare, plugin);
        sum ^= work(plugin + 100, 12000000);
        std::unique_lock<std::mutex> guard(lock);
        while (ready <= plugin)
            changed.wait_for(guard, std::chrono::milliseconds(60));
        guard.unlock();
        thread.join();
        sum += results[plugin];
    }
    std::printf("%llx\n", static_cast<unsigned long long>(sum));
}

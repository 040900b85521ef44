// A cache server, on a thread of its own, and a client that asks it for 14 values.
#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

static bool receive(int socket, void *data, std::size_t size)
{
    return recv(socket, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

static void serve(int listener)
{
    int peer = accept(listener, nullptr, nullptr);
    std::uint32_t key;
    while (receive(peer, &key, sizeof key)) {
        std::string value(100 + key, 'v');
        std::uint32_t length = value.size();
        value.insert(0, reinterpret_cast<char *>(&length), sizeof length);
        send(peer, value.data(), value.size(), 0);
    }
    close(peer);
}

static std::uint64_t work(std::uint64_t value)
{
    for (int round = 0; round < 4000000; round++)
        value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15u;
    return value;
}

int main()
{
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), size) != 0 || listen(listener, 1) != 0)
        return 1;
    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size);
    std::thread server(serve, listener);
    if (connect(client, reinterpret_cast<sockaddr *>(&address), size) != 0)
        return 1;
    std::uint64_t sum = 0;
    for (std::uint32_t key = 0; key < 14; key++) {
        send(client, &key, sizeof key, 0);
        std::uint32_t length = 0;
        receive(client, &length, sizeof length);
        std::string value(length, ' ');
        receive(client, value.data(), length);
        sum += work(value.size() + value[0]);
    }
    close(client);
    server.join();
    std::printf("%llx\n", static_cast<unsigned long long>(sum));
}

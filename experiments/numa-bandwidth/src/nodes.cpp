// Reads memory on one NUMA node, or on all of them at once with one process per node, and prints the total speed.
//
// Usage: nodes one|all|crossed MIB SECONDS
//
// one      the processors of node 0 read memory of node 0
// all      the processors of each node read memory of their own node, at once
// crossed  the processors of each node read memory of the next node, at once
//
// Memory belongs to the node of the processor that first writes to it, so this needs no library: a process writes its
// memory on one node and reads it from another.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"

static const size_t LINE = 64;

// Returns the processors of a node, from a list such as "0-3,8-11". Empty if there is no such node.
static std::vector<int> processors_of(int node) {
    std::vector<int> processors;
    std::string path = "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist";
    FILE *file = fopen(path.c_str(), "r");
    if (file == nullptr) return processors;
    int first, last;
    while (fscanf(file, "%d", &first) == 1) {
        last = first;
        int separator = fgetc(file);
        if (separator == '-') {
            if (fscanf(file, "%d", &last) != 1) break;
            separator = fgetc(file);
        }
        for (int processor = first; processor <= last; processor++) processors.push_back(processor);
        if (separator != ',') break;
    }
    fclose(file);
    return processors;
}

static void stay_on(const std::vector<int> &processors) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int processor : processors) CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("sched_setaffinity");
        _exit(1);
    }
}

static uint64_t sum_lines(const uint8_t *from, const uint8_t *to) {
    uint64_t sum = 0;
    for (const uint8_t *byte = from; byte < to; byte += LINE) sum += *byte;
    return sum;
}

// Shared by the processes of all nodes: which are ready, and how much each has read.
struct Shared {
    std::atomic<int> ready;
    std::atomic<int> wrong;
    std::atomic<uint64_t> bytes;
};

// Writes memory on `home` and reads it on `readers` for `seconds`, with one thread per processor.
static void read_memory(Shared *shared, int processes, const std::vector<int> &home, const std::vector<int> &readers,
                        size_t size, double seconds) {
    // A process would wait forever for a failed sibling, so all processes end with the parent.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on(home);
    uint8_t *memory = (uint8_t *)malloc(size);
    if (memory == nullptr) _exit(1);
    memset(memory, 1, size);
    stay_on(readers);
    shared->ready++;
    while (shared->ready < processes) sched_yield();
    double end = clock_seconds() + seconds;
    size_t part = size / readers.size() / LINE * LINE;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < readers.size(); i++) {
        threads.emplace_back([=] {
            const uint8_t *from = memory + i * part, *to = from + part;
            do {
                if (sum_lines(from, to) != part / LINE) shared->wrong++;
                shared->bytes += part;
            } while (clock_seconds() < end);
        });
    }
    for (std::thread &thread : threads) thread.join();
    _exit(0);
}

int main(int count, char **arguments) {
    std::string mode = count == 4 ? arguments[1] : "";
    size_t size = count == 4 ? (size_t)atol(arguments[2]) << 20 : 0;
    double seconds = count == 4 ? atof(arguments[3]) : 0;
    if (size == 0 || seconds <= 0 || (mode != "one" && mode != "all" && mode != "crossed")) {
        fprintf(stderr, "usage: nodes one|all|crossed MIB SECONDS\n");
        return 2;
    }
    std::vector<std::vector<int>> nodes;
    for (int node = 0; !processors_of(node).empty(); node++) nodes.push_back(processors_of(node));
    if (nodes.empty() || (mode != "one" && nodes.size() < 2)) {
        fprintf(stderr, "this machine has %zu NUMA nodes; 'all' and 'crossed' need two\n", nodes.size());
        return 1;
    }
    void *page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 1;
    Shared *shared = new (page) Shared();
    size_t processes = mode == "one" ? 1 : nodes.size();
    for (size_t i = 0; i < processes; i++) {
        const std::vector<int> &home = nodes[mode == "crossed" ? (i + 1) % nodes.size() : i];
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 1;
        }
        if (child == 0) read_memory(shared, (int)processes, home, nodes[i], size, seconds);
    }
    int status;
    while (wait(&status) > 0) {
        check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process failed");
    }
    check(shared->wrong == 0, "a sum");
    printf("nodes %zu nodes\nread %.5g GB/s\n", nodes.size(), (double)shared->bytes / seconds * 1e-9);
}

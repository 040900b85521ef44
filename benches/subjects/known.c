// Spends known times on known activities, one step after another, and writes how long each really took.
// Usage: known TRUTH SCRATCH STEP=MS...
//
// Each run appends a line of JSON to TRUTH: nanoseconds by part, as measured by the thread itself. CPU time
// is from the thread's clock, time in the run queue is from /proc/thread-self/schedstat, and the rest of the
// wall time is the wait.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum part { USER, KERNEL, FAULTS, SLEEP, INPUT, OUTPUT, LOCK, DISK, READY, STOLEN, PARTS };
static const char *const NAMES[PARTS] = {
    "user_code", "kernel", "page_faults", "sleeping", "waiting_for_input", "waiting_for_output",
    "waiting_for_locks", "waiting_for_disk", "waiting_for_cpu", "cpu_steal"};

struct account { int64_t ns[PARTS]; };
struct account *path; // shared with children
struct account spinner, sleeper;

struct reading { int64_t wall, cpu, queue; };

static int64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The thread that opened this file: a forked child inherits its parent's.
static _Thread_local int queue_file = -1;
static _Thread_local pid_t queue_of;

// The file stays open: opening it took 5 us, 1.5 % of the time that `mix` spends between two readings.
static struct reading read_clocks(void) {
    char text[128] = "";
    if (queue_of != gettid()) {
        queue_file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        queue_of = gettid();
    }
    struct reading r = {0};
    ssize_t n = queue_file < 0 ? 0 : pread(queue_file, text, sizeof text - 1, 0);
    if (n > 0)
        sscanf(text, "%*d %ld", &r.queue);
    r.wall = now(CLOCK_MONOTONIC);
    r.cpu = now(CLOCK_THREAD_CPUTIME_ID);
    return r;
}

// Adds the time since `from`: CPU time as `cpu`, waiting time as `wait`.
static void add(struct account *to, struct reading from, enum part cpu, enum part wait) {
    struct reading r = read_clocks();
    int64_t ran = r.cpu - from.cpu, queued = r.queue - from.queue;
    int64_t rest = r.wall - from.wall - ran - queued;
    to->ns[cpu] += ran;
    to->ns[READY] += queued;
    to->ns[wait] += rest > 0 ? rest : 0;
}

static void compute(int64_t ns) {
    int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
    volatile uint64_t x = 1;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 200000; i++)
            x = x * 6364136223846793005u + 1442695040888963407u;
}

static void pause_for(int64_t ns) {
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static void spin(struct account *to, int ms) {
    struct reading r = read_clocks();
    compute(ms * 1000000LL);
    add(to, r, USER, STOLEN);
}

static void asleep(struct account *to, int ms) {
    struct reading r = read_clocks();
    pause_for(ms * 1000000LL);
    add(to, r, USER, SLEEP);
}

// CPU time in calls that move many bytes. The calls are so few that tracing them costs little.
static void kernel(struct account *to, int ms) {
    static char block[8 << 20];
    struct reading r = read_clocks();
    int fd = open("/dev/zero", O_RDONLY);
    int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        if (read(fd, block, sizeof block) < 0)
            break;
    close(fd);
    add(to, r, KERNEL, STOLEN);
}

// Rounds of the steps that tracing makes longer, or that end with a whole round. Later runs make as many rounds as
// the first run made in its time, so an observed run does the same work as a timed one.
enum { MIX_ROUNDS, TOUCH_ROUNDS, LOCK_ROUNDS, DISK_ROUNDS, SYNC_ROUNDS, KINDS };
static long rounds_to_make[KINDS], rounds_made[KINDS];

static int another_round(int kind, clockid_t clock, int64_t end) {
    long wanted = rounds_to_make[kind];
    if (wanted ? rounds_made[kind] >= wanted : now(clock) >= end)
        return 0;
    rounds_made[kind]++;
    return 1;
}

// Cheap calls, a million per second, with some computation for each. The same computation without the calls shows
// the program's own time. It works in a register: in memory it took 280 ns without calls and 600 ns after each call
// on a processor that predicts store-to-load forwarding (Intel, 2023) and has to learn it again after a call. That
// time is the program's, and would have counted as the kernel's.
static void mix(struct account *to, int ms) {
    enum { CALLS = 10000, STEPS = 200 };
    uint64_t x = 1;
    char byte;
    int fd = open("/dev/zero", O_RDONLY);
    int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
    while (another_round(MIX_ROUNDS, CLOCK_THREAD_CPUTIME_ID, end)) {
        struct account turn[2] = {0};
        for (int own = 0; own < 2; own++) {
            struct reading r = read_clocks();
            for (int call = 0; call < CALLS; call++) {
                if (!own && read(fd, &byte, 1) != 1)
                    exit(1);
                for (int i = 0; i < STEPS; i++) {
                    x = x * 6364136223846793005u + 1442695040888963407u;
                    __asm__ volatile("" : "+r"(x));
                }
            }
            add(&turn[own], r, USER, STOLEN);
        }
        int64_t both = turn[0].ns[USER], own = turn[1].ns[USER];
        to->ns[USER] += own + (both < own ? both : own);
        to->ns[KERNEL] += both < own ? 0 : both - own;
        to->ns[READY] += turn[0].ns[READY] + turn[1].ns[READY];
        to->ns[STOLEN] += turn[0].ns[STOLEN] + turn[1].ns[STOLEN];
    }
    close(fd);
}

// Memory touched for the first time: almost all of the time is the kernel's, in page faults. Mapping and unmapping
// are calls. A second round over the present memory shows the time of the loop itself.
static void touch(struct account *to, int ms) {
    enum { BYTES = 8 << 20 };
    int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
    while (another_round(TOUCH_ROUNDS, CLOCK_THREAD_CPUTIME_ID, end)) {
        struct reading r = read_clocks();
        char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            break;
        madvise(memory, BYTES, MADV_NOHUGEPAGE);
        add(to, r, KERNEL, STOLEN);
        enum part rounds[] = {FAULTS, USER};
        int64_t took[2];
        for (int i = 0; i < 2; i++) {
            r = read_clocks();
            for (int at = 0; at < BYTES; at += 4096)
                *(volatile char *)&memory[at] = i;
            took[i] = now(CLOCK_THREAD_CPUTIME_ID) - r.cpu;
            add(to, r, rounds[i], STOLEN);
        }
        if (took[1] < took[0]) {
            to->ns[FAULTS] -= took[1];
            to->ns[USER] += took[1];
        }
        r = read_clocks();
        munmap(memory, BYTES);
        add(to, r, KERNEL, STOLEN);
    }
}

// Reads bytes that the other end writes one at a time.
static void input(struct account *to, int ms) {
    struct reading r = read_clocks();
    char byte;
    while (now(CLOCK_MONOTONIC) < r.wall + ms * 1000000LL)
        if (read(0, &byte, 1) <= 0)
            break;
    add(to, r, USER, INPUT);
}

// Writes blocks that the other end reads slowly.
static void output(struct account *to, int ms) {
    static char block[65536];
    struct reading r = read_clocks();
    while (now(CLOCK_MONOTONIC) < r.wall + ms * 1000000LL)
        if (write(1, block, sizeof block) <= 0)
            break;
    add(to, r, KERNEL, OUTPUT);
}

static void disk(struct account *to, int ms, const char *file) {
    struct reading r = read_clocks();
    void *block = aligned_alloc(4096, 1 << 16);
    int fd = open(file, O_RDONLY | O_DIRECT);
    off_t at = 0;
    while (fd >= 0 && another_round(DISK_ROUNDS, CLOCK_MONOTONIC, r.wall + ms * 1000000LL)) {
        if (pread(fd, block, 1 << 16, at) <= 0)
            at = 0;
        else
            at += 1 << 16;
    }
    if (fd >= 0)
        close(fd);
    free(block);
    add(to, r, KERNEL, DISK);
}

// Writes blocks to a separate file and syncs each block before it writes the next one.
static void sync_blocks(struct account *to, int ms, const char *file) {
    static char block[1 << 16], name[4096];
    snprintf(name, sizeof name, "%s.sync", file);
    struct reading r = read_clocks();
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while (fd >= 0 && another_round(SYNC_ROUNDS, CLOCK_MONOTONIC, r.wall + ms * 1000000LL))
        if (write(fd, block, sizeof block) != sizeof block || fsync(fd) != 0)
            exit(1);
    if (fd >= 0)
        close(fd);
    add(to, r, KERNEL, DISK);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wanted, holds, over;

// Holds the lock for 10 ms each time the main thread is about to wait for it.
static void *holder(void *unused) {
    (void)unused;
    while (!atomic_load(&over)) {
        if (!atomic_exchange(&wanted, 0)) {
            pause_for(100000);
            continue;
        }
        pthread_mutex_lock(&mutex);
        atomic_fetch_add(&holds, 1);
        pause_for(10000000);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void lock(struct account *to, int ms) {
    pthread_t thread;
    pthread_create(&thread, NULL, holder, NULL);
    struct reading r = read_clocks();
    while (another_round(LOCK_ROUNDS, CLOCK_MONOTONIC, r.wall + ms * 1000000LL)) {
        int before = atomic_load(&holds);
        atomic_store(&wanted, 1);
        while (atomic_load(&holds) == before)
            ;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    atomic_store(&over, 1);
    add(to, r, USER, LOCK);
    pthread_join(thread, NULL);
}

static void *spin_thread(void *ms) {
    prctl(PR_SET_NAME, "spinner");
    spin(&spinner, *(int *)ms);
    return NULL;
}

static void *sleep_thread(void *ms) {
    prctl(PR_SET_NAME, "sleeper");
    asleep(&sleeper, *(int *)ms);
    return NULL;
}

// One thread computes for `ms`; at the same time, another one sleeps for two thirds of that.
static void pair(int ms) {
    int shorter = ms * 2 / 3;
    pthread_t a, b;
    pthread_create(&a, NULL, spin_thread, &ms);
    pthread_create(&b, NULL, sleep_thread, &shorter);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int i = 0; i < PARTS; i++)
        path->ns[i] += spinner.ns[i];
}

// A child that computes half of the time and sleeps the other half.
static void child(int ms) {
    pid_t pid = fork();
    if (pid == 0) {
        spin(path, ms / 2);
        asleep(path, ms / 2);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

// Two children joined by a pipe: the first computes and then writes, the second waits for it.
static void pipeline(int ms) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return;
    pid_t writer = fork();
    if (writer == 0) {
        spin(path, ms);
        _exit(write(ends[1], &byte, 1) != 1);
    }
    pid_t reader = fork();
    if (reader == 0) {
        close(ends[1]);
        ssize_t n = read(ends[0], &byte, 1);
        spin(path, ms / 4);
        _exit(n != 1);
    }
    close(ends[0]);
    close(ends[1]);
    waitpid(writer, NULL, 0);
    waitpid(reader, NULL, 0);
}

static void print(FILE *file, const char *name, const struct account *account, const char *after) {
    fprintf(file, "\"%s\": {", name);
    for (int i = 0; i < PARTS; i++)
        fprintf(file, "%s\"%s\": %lld", i ? ", " : "", NAMES[i], (long long)account->ns[i]);
    fprintf(file, "}%s", after);
}

static void step(const char *name, int ms, const char *scratch) {
    if (!strcmp(name, "spin")) spin(path, ms);
    else if (!strcmp(name, "sleep")) asleep(path, ms);
    else if (!strcmp(name, "kernel")) kernel(path, ms);
    else if (!strcmp(name, "mix")) mix(path, ms);
    else if (!strcmp(name, "touch")) touch(path, ms);
    else if (!strcmp(name, "input")) input(path, ms);
    else if (!strcmp(name, "output")) output(path, ms);
    else if (!strcmp(name, "disk")) disk(path, ms, scratch);
    else if (!strcmp(name, "sync")) sync_blocks(path, ms, scratch);
    else if (!strcmp(name, "lock")) lock(path, ms);
    else if (!strcmp(name, "pair")) pair(ms);
    else if (!strcmp(name, "child")) child(ms);
    else if (!strcmp(name, "pipeline")) pipeline(ms);
    else {
        fprintf(stderr, "known: there is no step named %s\n", name);
        exit(2);
    }
}

int main(int argc, char **argv) {
    path = mmap(NULL, sizeof *path, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc < 3 || path == MAP_FAILED)
        return 2;
    char name[4096];
    snprintf(name, sizeof name, "%s.rounds", argv[1]);
    FILE *rounds = fopen(name, "r");
    if (rounds != NULL) {
        for (int kind = 0; kind < KINDS; kind++)
            if (fscanf(rounds, "%ld", &rounds_to_make[kind]) != 1)
                return 2;
        fclose(rounds);
    }
    for (int i = 3; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL)
            return 2;
        *value = 0;
        step(argv[i], atoi(value + 1), argv[2]);
    }
    if (rounds == NULL) {
        rounds = fopen(name, "w");
        if (rounds == NULL)
            return 2;
        for (int kind = 0; kind < KINDS; kind++)
            fprintf(rounds, "%ld\n", rounds_made[kind]);
        if (fclose(rounds) != 0)
            return 2;
    }
    FILE *file = fopen(argv[1], "a");
    if (file == NULL)
        return 2;
    fprintf(file, "{");
    print(file, "path", path, ", ");
    print(file, "spinner", &spinner, ", ");
    print(file, "sleeper", &sleeper, "}\n");
    return fclose(file) != 0;
}

// A recursive factorial as a plain function, and as lambdas that call themselves through a pointer whose value the
// compiler may or may not know.
//
// Usage: factorial direct|pointer|constant|internal
#include "measure.h"

static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

// Other files can change this pointer: the compiler has to load it for every call.
int (*shared_pointer)(int) = [](int n) { return n < 2 ? 1 : n * shared_pointer(n - 1); };
// Nothing can change this one.
int (*const constant_pointer)(int) = [](int n) { return n < 2 ? 1 : n * constant_pointer(n - 1); };
// Only this file could change this one, and it doesn't.
static int (*internal_pointer)(int) = [](int n) { return n < 2 ? 1 : n * internal_pointer(n - 1); };

// A function that is neither inlined nor copied, so that its instructions can be counted.
// The empty assembly statement costs nothing and keeps a compiler from calling it once for the whole loop.
#define NOT_PURE __asm__ volatile("")
#define SEPARATE __attribute__((noinline))

// The measured calls. The instructions that the compiler makes of each are counted in the program file.
extern "C" {
SEPARATE int call_direct() { NOT_PURE; return factorial(10); }
SEPARATE int call_pointer() { NOT_PURE; return shared_pointer(10); }
SEPARATE int call_constant() { NOT_PURE; return constant_pointer(10); }
SEPARATE int call_internal() { NOT_PURE; return internal_pointer(10); }
}

template <int (*call)()> static int measure() {
    check(call() == 3628800, "10! is 3,628,800");
    const int calls = 10000;
    Timing timing = repeat(0.2, [] {
        for (int i = 0; i < calls; i++) keep_value((uint64_t)call());
    });
    print_time("call", timing, calls);
    return 0;
}

int main(int count, char **arguments) {
    const char *variant = count > 1 ? arguments[1] : "";
    if (!strcmp(variant, "direct")) return measure<call_direct>();
    if (!strcmp(variant, "pointer")) return measure<call_pointer>();
    if (!strcmp(variant, "constant")) return measure<call_constant>();
    if (!strcmp(variant, "internal")) return measure<call_internal>();
    fprintf(stderr, "usage: factorial direct|pointer|constant|internal\n");
    return 2;
}

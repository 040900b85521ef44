/* No C library: the cost of exec itself. Build with -static -nostdlib. */
#if defined(__x86_64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov $1, %edi\n"
    "  lea text(%rip), %rsi\n"
    "  mov $14, %edx\n"
    "  mov $1, %eax\n"
    "  syscall\n"
    "  xor %edi, %edi\n"
    "  mov $231, %eax\n"
    "  syscall\n"
    "text: .ascii \"Hello, world!\\n\"\n");
#elif defined(__aarch64__)
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov x0, 1\n"
    "  adr x1, text\n"
    "  mov x2, 14\n"
    "  mov x8, 64\n"
    "  svc 0\n"
    "  mov x0, 0\n"
    "  mov x8, 94\n"
    "  svc 0\n"
    "text: .ascii \"Hello, world!\\n\"\n");
#endif

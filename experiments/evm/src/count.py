"""Writes bytecode that counts to a number and returns it.

usage: count.py deep|flat|loop NUMBER [--hex]

deep: all ones are pushed, then added: NUMBER PUSH1, NUMBER - 1 ADD. The published shape. At most 1,024,
      the stack's size.
flat: each one is added at once. As many opcodes, for any number.
loop: a loop of eight opcodes, for work that takes long while the program stays short.
"""

import sys

PUSH0, PUSH1, PUSH4 = 0x5F, 0x60, 0x63
ADD, GT, MSTORE, JUMPI, JUMPDEST, DUP1, RETURN = 0x01, 0x11, 0x52, 0x57, 0x5B, 0x80, 0xF3
ONE = bytes([PUSH1, 1])
RETURN_TOP = bytes([PUSH1, 0, MSTORE, PUSH1, 32, PUSH1, 0, RETURN])


def deep(number):
    if not 1 <= number <= 1024:
        sys.exit("count.py: the stack holds 1 to 1,024 words")
    return ONE * number + bytes([ADD]) * (number - 1)


def flat(number):
    return ONE + (ONE + bytes([ADD])) * (number - 1)


def loop(number):
    start = bytes([PUSH0, JUMPDEST])
    return start + ONE + bytes([ADD, DUP1, PUSH4]) + number.to_bytes(4, "big") + bytes([GT, PUSH1, 1, JUMPI])


def main():
    shape, number = sys.argv[1], int(sys.argv[2])
    code = {"deep": deep, "flat": flat, "loop": loop}[shape](number) + RETURN_TOP
    if "--hex" in sys.argv:
        print(code.hex())
    else:
        sys.stdout.buffer.write(code)


main()

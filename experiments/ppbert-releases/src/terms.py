"""Write a term in Erlang's external format to standard output.

    python3 terms.py SHAPE SEED BYTES

SHAPE is `strings` (records whose bytes are mostly text), `structure` (nested lists and
tuples of small numbers and atoms) or `kinds` (every kind of term that 0.1.2 reads, with the
awkward ones: what is compared, not timed). The term is one list of records. A pool of 2,000
random records is drawn from, so that 96 MiB take seconds; the same arguments give the same bytes.
"""

import random
import struct
import sys

# Tags that every release of ppbert since 0.1.2 reads.
VERSION, SMALL_INTEGER, INTEGER, NEW_FLOAT = 131, 97, 98, 70
ATOM, SMALL_TUPLE, NIL, LIST, BINARY = 100, 104, 106, 108, 109
OLD_FLOAT, SMALL_ATOM, ATOM_UTF8, SMALL_ATOM_UTF8 = 99, 115, 118, 119
LARGE_TUPLE, STRING, SMALL_BIG, LARGE_BIG = 105, 107, 110, 111

POOL = 2000
ATOMS = ["ok", "error", "undefined", "true", "false", "user", "event", "timestamp", "node_down"]
WORDS = "the of a term list printed value key time size name line with and from over all node".split()


def atom(name):
    return struct.pack(">BH", ATOM, len(name)) + name.encode("ascii")


def integer(value):
    if 0 <= value < 256:
        return bytes([SMALL_INTEGER, value])
    return struct.pack(">Bi", INTEGER, value)


def real(value):
    return struct.pack(">Bd", NEW_FLOAT, value)


def binary(data):
    return struct.pack(">BI", BINARY, len(data)) + data


def tuple_of(*terms):
    return bytes([SMALL_TUPLE, len(terms)]) + b"".join(terms)


def list_of(terms):
    return struct.pack(">BI", LIST, len(terms)) + b"".join(terms) + bytes([NIL])


def sentence(rng, length):
    words = []
    while sum(map(len, words)) + len(words) < length:
        words.append(rng.choice(WORDS))
    return " ".join(words).encode("ascii")


def string_record(rng):
    """An id, a name and a text of 100 to 400 bytes, so nine tenths of the bytes are text."""
    return tuple_of(
        atom(rng.choice(ATOMS)),
        integer(rng.randrange(1_000_000)),
        binary(sentence(rng, 20)),
        binary(sentence(rng, rng.randrange(100, 400))),
    )


def structure(rng, depth):
    """A nested value whose leaves are numbers and atoms."""
    kind = rng.randrange(6 if depth else 4)
    if kind < 2:
        return integer(rng.randrange(256))
    if kind == 2:
        return integer(rng.randrange(-(2**31), 2**31))
    if kind == 3:
        return atom(rng.choice(ATOMS)) if rng.randrange(4) else real(rng.uniform(-1e6, 1e6))
    parts = [structure(rng, depth - 1) for _ in range(rng.randrange(2, 6))]
    return list_of(parts) if kind == 4 else tuple_of(*parts)


def structure_record(rng):
    return tuple_of(atom("event"), *(structure(rng, 3) for _ in range(4)))


def big(value):
    magnitude = abs(value).to_bytes(max(1, (abs(value).bit_length() + 7) // 8), "little")
    size = len(magnitude)
    head = bytes([SMALL_BIG, size]) if size < 256 else struct.pack(">BI", LARGE_BIG, size)
    return head + bytes([value < 0]) + magnitude


def text(rng, alphabet):
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(12)))


def kinds_record(rng):
    """One of each kind: sizes, signs, quotes, backslashes, control characters, bytes that are not UTF-8."""
    plain, awkward = "abcxyz_", "aZ0 _'\"\\\n\t\x01\x7f@"
    latin, unicode = awkward + "\xe9\xff", awkward + "\xe9\u4e16\U0001f600"
    name = text(rng, latin).encode("latin-1")
    wide = text(rng, unicode).encode()
    raw = bytes(rng.randrange(256) for _ in range(rng.randrange(8)))
    return tuple_of(
        integer(rng.randrange(256)),
        integer(-rng.randrange(2**31)),
        real(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-20, 20)),
        real(float(rng.randrange(-1000, 1000))),
        struct.pack(">B31s", OLD_FLOAT, b"%.20e" % rng.uniform(-1e6, 1e6)),
        atom(text(rng, plain)),
        struct.pack(">BH", ATOM, len(name)) + name,
        bytes([SMALL_ATOM, len(name)]) + name,
        struct.pack(">BH", ATOM_UTF8, len(wide)) + wide,
        bytes([SMALL_ATOM_UTF8, len(wide)]) + wide,
        big(rng.randrange(2**31, 2**63)),
        big(-rng.randrange(2**64, 2**90)),
        big(1 << rng.randrange(2048, 2100)),
        struct.pack(">BH", STRING, len(name)) + name,
        struct.pack(">BH", STRING, len(raw)) + raw,
        binary(wide),
        binary(raw),
        binary(b""),
        tuple_of(),
        bytes([NIL]),
        list_of([integer(1)]),
        tuple_of(list_of([list_of([atom("deep")])])),
        struct.pack(">BI", LIST, 1) + integer(1) + integer(2),
        struct.pack(">BI", LARGE_TUPLE, 2) + integer(1) + integer(2),
    )


def main():
    shape, seed, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(f"{shape} {seed}")
    record = {"strings": string_record, "structure": structure_record, "kinds": kinds_record}[shape]
    pool = [record(rng) for _ in range(POOL)]
    body = bytearray()
    count = 0
    while len(body) < size - 7:
        body += rng.choice(pool)
        count += 1
    out = sys.stdout.buffer
    out.write(struct.pack(">BBI", VERSION, LIST, count))
    out.write(body)
    out.write(bytes([NIL]))


main()

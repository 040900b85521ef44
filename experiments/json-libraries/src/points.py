"""Writes JSON with many points, the shape of a well-known benchmark of JSON libraries ('kostya').

Usage: points.py SEED BYTES
"""
import random
import sys


def main():
    rng, wanted = random.Random(int(sys.argv[1])), int(sys.argv[2])
    points, size = [], 0
    while size < wanted or not points:
        x, y, z = (repr(rng.random()) for _ in range(3))
        point = '{\n"x": %s,\n"y": %s,\n"z": %s,\n"name": "%x %d",\n"opts": {\n"1": [\n1,\ntrue\n]\n}\n}' % (
            x, y, z, rng.getrandbits(24), rng.randrange(10_000))
        points.append(point)
        size += len(point) + 2
    sys.stdout.write('{\n"coordinates": [\n%s\n],\n"info": "some info"\n}\n' % ",\n".join(points))


if __name__ == "__main__":
    main()

"""A server that has loaded its data and forks a process for each of 120 requests."""
import os

NAMES = [str(i) for i in range(1_500_000)]


def handle(request):
    return len(NAMES[request])


def main():
    total = 0
    for request in range(120):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, b"%d" % handle(request))
            os._exit(0)
        os.close(writer)
        total += int(os.read(reader, 20))
        os.close(reader)
        os.waitpid(child, 0)
    print(total)


main()

"""Answers requests, each in a thread of its own, twenty at a time."""
import hashlib
import threading

REQUESTS = 6000
AT_ONCE = 20


def answer(number, answers):
    digest = hashlib.sha256(b"request %d" % number)
    for _ in range(10):
        digest = hashlib.sha256(digest.digest())
    answers[number] = digest.hexdigest()


def main():
    answers = [None] * REQUESTS
    for first in range(0, REQUESTS, AT_ONCE):
        threads = [threading.Thread(target=answer, args=(number, answers))
                   for number in range(first, first + AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(hashlib.sha256("".join(answers).encode()).hexdigest())


main()

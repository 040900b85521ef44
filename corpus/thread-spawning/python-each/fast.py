"""Answers requests, one after the other: the work is too small to share."""
import hashlib

REQUESTS = 6000


def answer(number, answers):
    digest = hashlib.sha256(b"request %d" % number)
    for _ in range(10):
        digest = hashlib.sha256(digest.digest())
    answers[number] = digest.hexdigest()


def main():
    answers = [None] * REQUESTS
    for number in range(REQUESTS):
        answer(number, answers)
    print(hashlib.sha256("".join(answers).encode()).hexdigest())


main()

"""Each of 600 requests looks up one setting in a table that is read once."""
import json
import sys

NAME = sys.argv[1]


def settings():
    with open(NAME) as file:
        return json.load(file)


TABLE = settings()


def answer(request):
    table = TABLE
    return table[f"key{request % 5000}"] * request % 997


print(sum(answer(i) for i in range(600)))

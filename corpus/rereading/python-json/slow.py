"""Each of 600 requests looks up one setting in a file of 120 KB that it reads anew."""
import json
import sys

NAME = sys.argv[1]


def settings():
    with open(NAME) as file:
        return json.load(file)


def answer(request):
    table = settings()
    return table[f"key{request % 5000}"] * request % 997


print(sum(answer(i) for i in range(600)))

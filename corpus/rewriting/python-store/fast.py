"""Keeps a list of tasks in a file that is saved once."""
import json
import sys

path = sys.argv[1] + "/tasks.json"


def save(tasks):
    with open(path, "w") as file:
        json.dump(tasks, file)


tasks = []
save(tasks)
for number in range(700):
    tasks.append({"id": number, "text": f"task {number}", "done": number % 3 == 0})
save(tasks)
print(len(json.load(open(path))))

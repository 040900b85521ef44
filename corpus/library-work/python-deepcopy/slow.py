"""Renders a page for each line of standard input; each has a deep copy of all settings."""
import copy
import sys

SETTINGS = {f"group{number}": {"names": ["a", "b"], "limit": number} for number in range(20)}


def settings_of(title):
    settings = copy.deepcopy(SETTINGS)
    settings["title"] = title
    return settings


size = 0
for line in sys.stdin:
    settings = settings_of(line.strip())
    size += len(settings["title"]) + settings["group3"]["limit"]
print(size)

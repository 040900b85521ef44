"""Renders a page for each line of standard input; each has its own title, and shares all other settings."""
import sys

SETTINGS = {f"group{number}": {"names": ["a", "b"], "limit": number} for number in range(20)}


def settings_of(title):
    return {**SETTINGS, "title": title}


size = 0
for line in sys.stdin:
    settings = settings_of(line.strip())
    size += len(settings["title"]) + settings["group3"]["limit"]
print(size)

"""Write the index of the catalogue: a row for each page, with its question, its answer and its verdicts.

    python3 experiments/index.py            write it into experiments/README.md, between the marks
    python3 experiments/index.py --check    check whether it matches the pages; write nothing

Question and answer are the paragraphs of a page that begin with **Question.** and **Answer.**; the verdicts
are the first line of its figures. Exit code 0: done, or up to date; 1: a page lacks one of these, or the index
is out of date.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INDEX = HERE / "README.md"
BEGIN, END = "<!-- index: begin -->", "<!-- index: end -->"
# The maximum length of an answer, in characters.
MOST = 330
TALLY = re.compile(r"^\*\*Of \d+ claims?: (.*?)\.\*\*", re.MULTILINE)


def paragraph(text, name):
    """Returns the paragraph that begins with **Name.** as one line, or None."""
    found = re.search(rf"^\*\*{name}\.\*\* (.*?)(?:\n\s*\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return found and " ".join(found[1].split())


def row(page, wrong):
    """Returns a page's row, and the number of its claims by verdict."""
    text = page.read_text(encoding="utf-8")
    name = page.parent.name
    question, answer = paragraph(text, "Question"), paragraph(text, "Answer")
    tally = TALLY.search(text)
    verdicts = tally[1] if tally else "no claims"
    if not question or not answer:
        wrong.append(f"{name}: a paragraph **Question.** or **Answer.** is missing")
    elif len(answer) > MOST:
        wrong.append(f"{name}: the answer has {len(answer)} characters, at most {MOST} are allowed")
    if not tally and "No claims" not in text:
        wrong.append(f"{name}: there is no line of verdicts")
    counts = {verdict: int(count) for count, verdict in re.findall(r"(\d+) ([a-z -]+)", verdicts)} if tally else {}
    return f"| [{question}]({name}/) | {answer} | {verdicts} |", counts


def index(wrong):
    """Returns the whole table, after the sums of all pages."""
    pages = sorted(path.with_name("README.md") for path in HERE.glob("*/experiment.toml"))
    rows, sums = [], {}
    for page in pages:
        line, counts = row(page, wrong)
        rows.append(line)
        for verdict, count in counts.items():
            sums[verdict] = sums.get(verdict, 0) + count
    listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(sums.items(), key=lambda one: -one[1]))
    head = f"**{sum(sums.values())} claims on {len(rows)} pages: {listed}.**"
    return "\n".join([head, "", "| Question | Answer | Verdicts |", "|:---|:---|:---|", *rows])


def main():
    wrong = []
    before, _, rest = INDEX.read_text(encoding="utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"{INDEX}: the marks {BEGIN} and {END} are missing")
    text = f"{before}{BEGIN}\n\n{index(wrong)}\n\n{END}{after}"
    if "--check" not in sys.argv[1:]:
        INDEX.write_text(text, encoding="utf-8")
    elif text != INDEX.read_text(encoding="utf-8"):
        wrong.append("experiments/README.md is out of date; run: python3 experiments/index.py")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

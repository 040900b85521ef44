"""Runs docs/notebook.ipynb with the module of this repository, and opens its results in Chromium.

    notebook.py FATHOM [--screenshots FOLDER]        needs nbclient, ipykernel and Chromium
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
WIDTHS = (400, 800, 1280)

# Runs in the page: finds what is wider than the page, and which parts of each result are visible.
QUESTION = """<script>
const seen = element => { const box = element.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
const results = [...document.querySelectorAll('.result')].map(result => ({
  answer: result.querySelector('strong')?.innerText ?? '',
  bars: [...result.querySelectorAll('svg rect')].filter(seen).length,
  names: [...result.querySelectorAll('svg text')].map(text => text.textContent),
  cut: [...result.querySelectorAll('svg text, svg rect')].filter(part =>
    part.getBoundingClientRect().bottom > part.closest('svg').getBoundingClientRect().bottom + 1).length,
  rows: result.querySelectorAll('tbody tr').length,
  wide: Math.max(...[...result.querySelectorAll('p, svg')].map(part => part.getBoundingClientRect().right)),
}));
const answer = document.createElement('pre');
answer.id = 'answer';
answer.textContent = JSON.stringify({width: innerWidth, results});
document.body.append(answer);
</script>"""


def executed(fathom):
    """Runs the notebook from its first cell to its last and returns it. A failing cell ends the program."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(FATHOM=fathom, PYTHONPATH=str(ROOT / "python"), XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def chromium():
    found = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    return found or sys.exit("there is no Chromium")


def opened(page, width, more):
    """Opens the page in Chromium and returns Chromium's output."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   f"--user-data-dir={profile}", f"--window-size={width},2400", *more, page.as_uri()]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(fathom, options):
    notebook = executed(fathom)
    texts = [output.data["text/plain"] for output in outputs(notebook) if "data" in output]
    assert max(map(len, texts)) < 2_000, "a notebook keeps an answer, not a record"
    shown = [output.data["text/html"] for output in outputs(notebook) if "text/html" in output.get("data", {})]
    assert len(shown) == 3, f"bench, why and difference have a display: {len(shown)}"
    said = "".join(output.text for output in outputs(notebook) if output.output_type == "stream")
    assert re.search(r"^[\d.]+x, at \d+% between", said, re.M) and re.search(r"^3 ", said, re.M), said
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        results = "".join(f'<div class="result" style="overflow-x:auto">{one}</div>' for one in shown)
        page.write_text(f'<!doctype html><meta charset="utf-8"><title>notebook</title>{results}{QUESTION}')
        for width in WIDTHS:
            dump = opened(page, width, ["--dump-dom"])
            answer = json.loads(html.unescape(re.search(r'<pre id="answer">(.*?)</pre>', dump, re.S).group(1)))
            assert len(answer["results"]) == 3, answer
            for result in answer["results"]:
                assert result["answer"] and result["names"], result
                assert result["bars"] > 0 and result["rows"] > 0 and result["cut"] == 0, result
                assert result["wide"] <= answer["width"], (width, result)
            if "--screenshots" in options:
                to = pathlib.Path(options[options.index("--screenshots") + 1]).resolve() / f"notebook-{width}.png"
                opened(page, width, [f"--screenshot={to}"])
    print(f"the notebook ran; {len(shown)} results were checked at {len(WIDTHS)} widths")


main(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:])

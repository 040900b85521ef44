"""Write a Python module or a JavaScript file with many functions, which are compiled at start-up.

    python3 modules.py python|javascript FUNCTIONS
"""

import sys

PYTHON = '''
def step_{n}(values, limit={n}):
    """Keep what is below the limit, and say how much that was."""
    kept = []
    for position, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, str):
            value = len(value) + position
        kept.append(value % (limit + 1))
    total = sum(kept)
    return {{"limit": limit, "kept": len(kept), "total": total, "mean": total / max(1, len(kept))}}
'''

JAVASCRIPT = """
exports.step{n} = (function () {{
  const limit = {n};
  return function step(values) {{
    const kept = [];
    for (let position = 0; position < values.length; position += 1) {{
      let value = values[position];
      if (value === null) continue;
      if (typeof value === "string") value = value.length + position;
      kept.push(value % (limit + 1));
    }}
    const total = kept.reduce((sum, value) => sum + value, 0);
    return {{ limit, kept: kept.length, total, mean: total / Math.max(1, kept.length) }};
  }};
}})();
"""

language, count = sys.argv[1], int(sys.argv[2])
text = {"python": PYTHON, "javascript": JAVASCRIPT}[language]
print("".join(text.format(n=n) for n in range(count)), end="")

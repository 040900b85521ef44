"""Import the generated module and call one of its functions.

    python3 [-B] main.py FOLDER
"""

import sys

sys.path.insert(0, sys.argv[1])
import steps

print(steps.step_7([1, None, "three", 40]))

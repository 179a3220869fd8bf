#!/usr/bin/env python3
"""Runs the code of notebooks, each in a process of its own.

    notebooks.py FILE.ipynb …
"""
import json
import os
import subprocess
import sys
import tempfile
import time

failed = 0
for path in sys.argv[1:]:
    with open(path) as file:
        cells = json.load(file)["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "notebook.py")
        with open(script, "w") as file:
            file.write(code + "\n")
        outcome = subprocess.run([sys.executable, script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
    good = outcome.returncode == 0
    failed += not good
    print(f"{os.path.basename(path)}: {'passed' if good else 'FAILED'} in {time.monotonic() - began:.1f} s")
    if not good:
        print(outcome.stdout[-4000:])
sys.exit(failed > 0)

"""What the peers' programs have in common: each line of standard input names one piece of work, which is done and
answered by a line of JSON: {"ms": [22.9], "count": 1}, or {"error": "..."}."""

import json
import os
import sys
import time

# Imported first: what libraries print goes to standard error, and standard output is for answers alone.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def serve(works):
    for line in sys.stdin:
        name, *arguments = line.split()
        begun = time.perf_counter()
        try:
            count = works[name](*arguments)
            answer = {"ms": [(time.perf_counter() - begun) * 1000], "count": count}
        except Exception as error:  # whatever it was is for a person to read
            answer = {"error": f"{line.strip()}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)

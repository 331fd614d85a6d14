#!/usr/bin/env python3
"""move_over.py SKEIN [--size small|real]: makes a folder of each program, imports it twice by one command each,
and checks that the counts add up: found = taken + already there + left out, as the generator says."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = [
    ("Nova", ["make_nova.py", "--layout", "agent-store"]),
    ("Nova, older layout", ["make_nova.py", "--layout", "agents"]),
    ("gitmem", ["make_gitmem.py"]),
    ("HQ", ["make_hq.py"]),
]


def run(arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, check=True, **options).stdout


def wrong_counts(kinds, expected, again):
    """What is not as the generator says; nothing, if all is well."""
    wrong = [f"{kind}: not reported" for kind in expected if kind not in kinds]
    for kind, row in kinds.items():
        made = expected.get(kind, {"found": 0, "taken": 0, "leftOut": 0})
        counts = {"found": made["found"], "taken": 0 if again else made["taken"],
                  "there": made["taken"] if again else 0, "leftOut": made["leftOut"]}
        wrong += [f"{kind}: {name} is {row[name]}, not {count}" for name, count in counts.items() if row[name] != count]
        if row["found"] != row["taken"] + row["there"] + row["leftOut"]:
            wrong.append(f"{kind}: does not add up")
    return wrong


def move(skein, name, maker, size, folder):
    expected = json.loads(run([sys.executable, HERE / maker[0], *maker[1:], "--size", size, folder / "old"]))
    (folder / "new").mkdir()
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    wrong = []
    for again in (False, True):
        begin = time.monotonic()
        report = json.loads(run([skein, "--workspace", folder / "new", "import", folder / "old", "--json"],
                                env=environment, cwd=folder))
        kinds = {row["kind"]: row for row in report["kinds"]}
        wrong += wrong_counts(kinds, expected, again)
        if not again:
            taken = ", ".join(f"{row['taken']:,} {kind}" for kind, row in kinds.items() if row["taken"])
            print(f"figure: {name}: {taken} in {time.monotonic() - begin:.1f} s", flush=True)
    for line in wrong:
        print(f"WRONG: {name}: {line}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("skein")
    parser.add_argument("--size", choices=["small", "real"], default="real")
    options = parser.parse_args()
    skein = pathlib.Path(options.skein).resolve()
    well = True
    for name, maker in FOLDERS:
        with tempfile.TemporaryDirectory() as folder:
            well = move(skein, name, maker, options.size, pathlib.Path(folder)) and well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())

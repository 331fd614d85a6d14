"""What the generators of foreign folders share: the same folder for the same arguments, always."""

import argparse
import datetime
import json
import pathlib
import random

START = datetime.datetime(2026, 1, 5, 8, 0, tzinfo=datetime.timezone.utc)
WORDS = """billing invoice parser deploy staging retry cache index thread report customer refund login
token schema migration latency alert backup restore holiday rota ticket printer router budget forecast
draft review merge release rollback checklist onboarding survey""".split()


class Made:
    """A folder in the making, and how many of each kind an import has to find, take and leave out."""

    def __init__(self, folder, seed):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.random = random.Random(seed)
        self.kinds = {}

    def expect(self, kind, taken=0, left_out=0):
        row = self.kinds.setdefault(kind, {"found": 0, "taken": 0, "leftOut": 0})
        row["found"] += taken + left_out
        row["taken"] += taken
        row["leftOut"] += left_out

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, name, text):
        self.path(name).write_text(text, encoding="utf-8")

    def json(self, name, value):
        self.text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def lines(self, name, values):
        """Values that are no strings become JSON, strings stand as they are."""
        lines = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values]
        self.text(name, "".join(line + "\n" for line in lines))

    def hex(self, digits):
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"

    def uuid(self):
        text = self.hex(32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"

    def sentence(self, words=8):
        return " ".join(self.random.choice(WORDS) for _ in range(words)).capitalize()

    def time(self, hours, digits=3):
        """ISO 8601, so many hours after the start of the world."""
        moment = START + datetime.timedelta(hours=hours)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.random.randrange(1000):03d}Z"


def arguments(doc, more=()):
    """OUT, --size and --hostile, and what a generator adds."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("out", help="the folder to make; must not exist")
    parser.add_argument("--size", choices=["small", "real"], default="small")
    parser.add_argument("--hostile", action="store_true", help="with links, broken lines and huge files")
    parser.add_argument("--seed", type=int, default=1)
    for names, options in more:
        parser.add_argument(names, **options)
    return parser.parse_args()


def tell(made):
    """What an import of the folder has to find, as one JSON object."""
    print(json.dumps(made.kinds))

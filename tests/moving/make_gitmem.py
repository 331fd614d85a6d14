#!/usr/bin/env python3
"""Makes a gitmem project: .gitmem/ with work items and sessions, and what Skein has no counterpart for.

Prints what an import has to find.
"""

import json
import os

from common import arguments, tell, Made

SIZES = {"small": (24, 10), "real": (400, 200)}  # items, sessions


class Gitmem(Made):
    def __init__(self, options):
        super().__init__(options.out, options.seed)
        self.item_count, self.session_count = SIZES[options.size]
        self.sessions = [self.uuid() for _ in range(self.session_count)]

    def item(self, number):
        item = {"id": "t-" + self.hex(8), "text": f"{self.sentence()} ({number})", "status": "open",
                "created_at": self.time(number), "source_session": self.random.choice(self.sessions)}
        if number % 3 == 0:
            item |= {"status": "resolved", "resolved_at": self.time(number + 30),
                     "resolved_by_session": self.random.choice(self.sessions), "resolution_note": self.sentence()}
        return item

    def make(self):
        items = [self.item(number) for number in range(self.item_count)]
        older = [f"Look into the {self.sentence(3)}",
                 json.dumps({"id": "t-abc", "text": "As a string", "status": "open"}),
                 json.dumps({"id": "t-abd", "note": "With a note", "status": "open"}),
                 json.dumps({"item": "Legacy", "context": "from before"}),
                 "PROJECT STATE: Billing: OD-1done OD-2~waits OD-3->next"]
        self.json(".gitmem/threads.json", items + older + [items[0]])
        self.expect("work items", taken=len(items) + len(older), left_out=1)
        self.make_sessions(items)
        self.make_rest()

    def make_sessions(self, items):
        sessions = []
        for number, session in enumerate(self.sessions):
            record = {"id": session, "close_compliance": {"close_type": "standard", "agent": "cli"},
                      "closing_reflection": {"what_worked": self.sentence(), "what_broke": self.sentence()},
                      "decisions": [self.sentence(5)], "open_threads": items[number:number + 6]}
            if number % 2 == 0:  # as the paid tier keeps them
                record |= {"session_title": self.sentence(4), "session_date": self.time(24 * number)[:10],
                           "project": "billing", "agent": "cli", "embedding": [0.1, 0.2]}
            if number % 5 == 4:
                record = {"id": session, "session_title": "Interactive Session", "close_compliance": None}
            sessions.append(record)
        self.json(".gitmem/sessions.json", sessions)
        never = sum("decisions" not in record for record in sessions)
        self.expect("sessions", taken=len(sessions) - never, left_out=never)

    def make_rest(self):
        lists = {"learnings": "learnings.json", "decisions": "decisions.json", "usage of learnings": "scar_usage.json",
                 "suggestions": "suggested-threads.json"}
        for kind, file in lists.items():
            self.json(".gitmem/" + file, [{"id": self.uuid(), "title": self.sentence()} for _ in range(5)])
            self.expect(kind, left_out=5)
        self.json(".gitmem/active-sessions.json", {"sessions": [{
            "session_id": self.uuid(), "agent": "cli", "started_at": self.time(1), "hostname": "laptop", "pid": 1,
            "project": "default"}]})
        self.expect("sessions", left_out=1)
        self.json(".gitmem/config.json", {"project": "billing"})
        self.text("README.md", "# Billing\n")

    def spoil(self):
        sessions = json.loads((self.folder / ".gitmem" / "sessions.json").read_text(encoding="utf-8"))
        sessions += [{"id": "../../etc", "closing_reflection": {}}, 7]
        self.json(".gitmem/sessions.json", sessions)
        self.expect("sessions", left_out=2)
        os.remove(self.folder / ".gitmem" / "learnings.json")
        os.symlink("/etc/hostname", self.folder / ".gitmem" / "learnings.json")
        self.expect("learnings", left_out=1)
        self.kinds["learnings"] = {"found": 1, "taken": 0, "leftOut": 1}
        items = json.loads((self.folder / ".gitmem" / "threads.json").read_text(encoding="utf-8"))
        self.json(".gitmem/threads.json", items + [7, {"status": "open"}])
        self.expect("work items", left_out=2)


def main():
    options = arguments(__doc__)
    gitmem = Gitmem(options)
    gitmem.make()
    if options.hostile:
        gitmem.spoil()
    tell(gitmem)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes an HQ folder: checkpoints in workspace/threads/, in its archive and in the older
workspace/checkpoints/, and what Skein has no counterpart for.

Prints what an import has to find.
"""

import os

from common import arguments, tell, Made

SIZES = {"small": (12, 6, 4, 3), "real": (600, 300, 60, 40)}  # checkpoints, archived, older, workers


class Hq(Made):
    def __init__(self, options):
        super().__init__(options.out, options.seed)
        self.count, self.archived, self.older, self.workers = SIZES[options.size]

    def checkpoint(self, number, hours):
        kind = ["checkpoint", "auto-checkpoint", "handoff"][number % 3]
        created = self.time(hours)
        stamp = created[:19].replace("-", "").replace(":", "").replace("T", "-")
        slug = "-".join(self.sentence(2).lower().split()) + f"-{number}"
        name = f"T-{stamp}-{'auto-' if kind == 'auto-checkpoint' else ''}{slug}"
        git = {"branch": "main", "current_commit": self.hex(7), "dirty": number % 4 == 0}
        value = {"thread_id": name, "version": 1, "type": kind, "created_at": created, "updated_at": created,
                 "workspace_root": "~/Documents/HQ", "cwd": "repos/private/acme", "git": git,
                 "conversation_summary": self.sentence(20), "files_touched": ["companies/acme/report.md"]}
        if kind != "auto-checkpoint":
            git |= {"remote_url": "git@example.org:acme/hq.git", "initial_commit": self.hex(7),
                    "commits_made": [f"{self.hex(7)}: {self.sentence(4)}"],
                    "knowledge_repos": {"ralph": {"commit": self.hex(7), "dirty": False}}}
            value |= {"worker": {"id": "cfo-acme", "skill": "mrr", "state": "completed", "started_at": created,
                                 "completed_at": created}, "next_steps": [self.sentence(5)]}
        value["metadata"] = {"title": self.sentence(3), "tags": ["acme", "finance"]}
        return name, value

    def make(self):
        for number in range(self.count):
            name, value = self.checkpoint(number, 2000 + number)
            self.json(f"workspace/threads/{name}.json", value)
            if number % 6 == 2:
                self.json(f"workspace/threads/{name}.changeset.json", {"files": value["files_touched"]})
                self.expect("changesets and pointers", left_out=1)
        for number in range(self.archived):
            name, value = self.checkpoint(number, number)
            self.json(f"workspace/threads/archive/{value['created_at'][:7]}/{name}.json", value)
        for number in range(self.older):
            self.json(f"workspace/checkpoints/fix-{number}.json",
                      {"task_id": f"fix-{number}", "created_at": self.time(number), "summary": self.sentence(12),
                       "files_touched": ["a.md"], "notes": self.sentence(6), "build_passed": True})
        self.expect("checkpoints", taken=self.count + self.archived + self.older)
        self.json("workspace/threads/handoff.json", {"last_thread": "T-…"})
        self.expect("changesets and pointers", left_out=1)
        self.text("workspace/threads/INDEX.md", "# Threads\n")
        self.text("workspace/threads/recent.md", "# Recent\n")
        for number in range(self.workers):
            place = f"core/workers/public/dev-team/worker-{number}" if number % 2 else f"workers/worker-{number}"
            self.text(f"{place}/worker.yaml", f"worker:\n  id: worker-{number}\n  description: {self.sentence()}\n")
        self.expect("workers", left_out=self.workers)
        self.text("companies/acme/knowledge/README.md", "# Acme\n")

    def spoil(self):
        self.text("workspace/threads/T-20260101-000000-cut.json", '{"thread_id": "T-2026')
        self.text("workspace/threads/T-20260101-000001-huge.json", '{"x":"' + "x" * (2 << 20) + '"}')
        os.symlink("/etc/hostname", self.path("workspace/threads/T-20260101-000002-link.json"))
        os.symlink("nowhere", self.path("workspace/threads/T-20260101-000003-gone.json"))
        os.symlink("/etc", self.path("workspace/threads/archive/2025-12"))
        self.expect("checkpoints", left_out=5)


def main():
    options = arguments(__doc__)
    hq = Hq(options)
    hq.make()
    if options.hostile:
        hq.spoil()
    tell(hq)


if __name__ == "__main__":
    main()

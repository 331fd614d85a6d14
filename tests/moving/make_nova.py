#!/usr/bin/env python3
"""Makes a Nova workspace: agents, threads, usage, tasks, triggers, and what Skein has no counterpart for.

--layout agent-store is the newer layout (agent-store/ID.json, threads/ID.jsonl, triggers.json), agents the
older one (agents/ID/agent.json, agents/ID/threads/ID.jsonl, agents/ID/triggers.json). Prints what an import
has to find.
"""

import os

from common import arguments, tell, Made

SIZES = {  # agents, threads of each, events of each at most, tasks, triggers of each agent
    "small": (3, 5, 12, 8, 2),
    "real": (8, 75, 80, 150, 3),
}
NAMES = ["nova", "agent-builder", "researcher", "bookkeeper", "gardener", "coach", "press", "ops"]


class Nova(Made):
    def __init__(self, options):
        super().__init__(options.out, options.seed)
        self.newer = options.layout == "agent-store"
        count, self.threads_each, self.events_most, self.task_count, self.triggers_each = SIZES[options.size]
        self.agents = NAMES[:count]
        self.usage = []
        self.threads = []  # (id, agent)

    def make(self):
        for agent in self.agents:
            self.make_agent(agent)
        self.make_tasks()
        self.make_triggers()
        self.lines("usage.jsonl", self.usage)
        self.expect("usage records", taken=len(self.usage))
        self.make_rest()

    def make_agent(self, agent):
        definition = {
            "name": agent.capitalize(),
            "description": self.sentence(),
            "identity": f"You are {agent}. " + self.sentence(20),
            "instructions": self.sentence(40) + "\n\n" + self.sentence(20),
            "responsibilities": [{"title": self.sentence(2), "content": self.sentence(12)}],
            "directories": ["~/Documents/" + agent],
            "capabilities": {"memory": {}, "history": {}, "tasks": {}, "notes": {"tools": ["list_notes"]}},
            "trust": self.random.choice(["sandbox", "controlled", "unrestricted"]),
            "model": self.random.choice(["sonnet", "opus", "haiku"]),
        }
        if self.newer:
            self.json(f"agent-store/{agent}.json", {"id": agent, **definition})
        else:
            self.json(f"agents/{agent}/agent.json", definition)
        self.expect("agents", taken=1)
        for number in range(self.threads_each):
            self.make_thread(agent, number)
        vectors = f"threads/embeddings/{agent}.jsonl" if self.newer else f"agents/{agent}/embeddings.jsonl"
        self.lines(vectors, [{"threadId": self.threads[-1][0], "messageIndex": 0, "role": "user",
                              "text": self.sentence(), "embedding": [0.5, -0.25], "timestamp": self.time(1)}])
        self.expect("embeddings (files)", left_out=1)
        self.text(f"agents/{agent}/notes/first-steps.md", self.sentence(30) + "\n")
        self.expect("notes", left_out=1)

    def thread_file(self, agent, thread):
        return f"threads/{thread}.jsonl" if self.newer else f"agents/{agent}/threads/{thread}.jsonl"

    def make_thread(self, agent, number):
        thread = self.hex(12)
        self.threads.append((thread, agent))
        hour = number * 7.0
        manifest = {"id": thread} if self.newer else {}
        manifest |= {"agentId": agent, "createdAt": self.time(hour), "updatedAt": self.time(hour + 1)}
        if number % 3 == 0:
            manifest["title"] = self.sentence(4)
        if number % 2 == 0:
            manifest["sessionId"] = self.uuid()
        if not self.newer and number % 4 == 0:
            manifest["channel"] = "telegram"
        lines = [manifest]
        for run in range(self.random.randrange(1, max(2, self.events_most // 6))):
            lines += self.make_run(agent, thread, hour + run / 10, legacy=not self.newer and number % 5 == 0)
        self.lines(self.thread_file(agent, thread), lines)
        self.expect("threads", taken=1)
        self.expect("events", taken=len(lines) - 1)

    def make_run(self, agent, thread, hour, legacy):
        kind = {} if legacy else {"type": "message"}
        tokens = {"inputTokens": self.random.randrange(100, 9000), "outputTokens": self.random.randrange(10, 900)}
        events = [
            {**kind, "role": "user", "text": self.sentence(12), "timestamp": self.time(hour)},
            {"type": "assistant_text", "text": self.sentence(5), "timestamp": self.time(hour)},
            {"type": "tool_use", "name": "Read", "input": {"file_path": self.sentence(1), "limit": 20},
             "timestamp": self.time(hour)},
            {"type": "result", "cost": 0.0123, "durationMs": 4200, "turns": 2, **tokens, "cacheReadTokens": 0,
             "timestamp": self.time(hour)},
            {**kind, "role": "assistant", "text": self.sentence(30), "timestamp": self.time(hour)},
        ]
        self.usage.append({"timestamp": self.time(hour), "agentId": agent, "threadId": thread, **tokens,
                           "cacheReadTokens": 0, "costUsd": 0.0123, "durationMs": 4200, "turns": 2,
                           "model": "claude-sonnet-4-5", "source": "chat", "stopReason": "success"})
        return events

    def make_tasks(self):
        tasks, history = [], []
        for number in range(1, self.task_count + 1):
            owner = "user" if number % 7 == 0 else self.agents[number % len(self.agents)]
            status = ["active", "draft", "done", "canceled"][number % 4]
            task = {"id": str(number), "title": self.sentence(4), "description": self.sentence(20), "owner": owner,
                    "createdBy": self.agents[0], "status": status,
                    "steps": [{"title": self.sentence(3), "done": number % 2 == 0},
                              {"title": self.sentence(3), "details": self.sentence(9), "done": False}],
                    "resources": [{"type": "url", "value": "https://example.org/brief", "label": "Brief"}],
                    "createdAt": self.time(number), "updatedAt": self.time(number + 5)}
            if number % 3 == 0:
                task["threadId"] = self.threads[number % len(self.threads)][0]
            if number > 4:
                task["parentTaskId"] = "4"
            if status in ("done", "canceled"):
                history.append({**task, "archivedAt": self.time(number + 6)})
            else:
                tasks.append(task)
        self.json("tasks/tasks.json", {"tasks": tasks, "nextId": self.task_count + 1})
        self.lines("tasks/history.jsonl", history)
        self.expect("tasks", taken=self.task_count)

    def make_triggers(self):
        everything = []
        for agent in self.agents:
            triggers = [{"id": f"{agent}-{number}" if number else self.hex(12), "agentId": agent,
                         "cron": f"{number} {8 + number} * * 1-5", "tz": "Europe/Helsinki",
                         "prompt": self.sentence(12), "lastRun": self.time(300), "enabled": True}
                        for number in range(self.triggers_each)]
            everything += triggers
            if not self.newer:
                for trigger in triggers:
                    del trigger["agentId"]
                self.json(f"agents/{agent}/triggers.json", triggers)
        if self.newer:
            self.json("triggers.json", everything)
        self.expect("triggers", taken=len(everything))

    def make_rest(self):
        self.json("memories.json", [self.sentence() for _ in range(6)])
        self.json("secrets.json", ["github", "calendar"])
        self.json("telegram.json", {"token": "not-a-token", "chatId": "1", "activeAgentId": "nova"})
        self.json("settings.json", {"consoleAccess": "local"})
        self.text("skills/weekly-review/SKILL.md", self.sentence(30) + "\n")
        os.makedirs(self.folder / "agents" / self.agents[0] / ".claude" / "skills")
        os.symlink(self.folder.resolve() / "skills" / "weekly-review",
                   self.folder / "agents" / self.agents[0] / ".claude" / "skills" / "weekly-review")
        for kind, count in {"memories": 6, "secrets": 2, "bots": 1, "settings": 1, "skills": 1}.items():
            self.expect(kind, left_out=count)

    def spoil(self):
        """What somebody else, or a crash, might have put there."""
        outside = (self.folder.parent / (self.folder.name + "-outside")).resolve()
        thread, agent = self.hex(12), self.agents[0]
        outside.mkdir()
        (outside / f"{thread}.jsonl").write_text(
            '{"agentId":"nova","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}\n')
        os.symlink(outside / f"{thread}.jsonl", self.path(self.thread_file(agent, thread)))
        os.symlink(outside, self.path("agents/stolen"))
        broken = self.folder / self.thread_file(self.threads[0][1], self.threads[0][0])
        with open(broken, "a", encoding="utf-8") as file:
            file.write('no JSON\n{"type":"message","role":"user","te')
        self.expect("threads", left_out=2)
        self.expect("events", left_out=2)
        damaged = self.hex(12)
        self.lines(self.thread_file(agent, damaged), ["{broken"])
        self.lines(self.thread_file(agent, "not-an-id"), ["{}"])
        self.expect("threads", left_out=2)
        with open(self.folder / "usage.jsonl", "a", encoding="utf-8") as file:
            file.write('{"timestamp":"yesterday","agentId":"nova"}\n[1]\n{"times')
        self.expect("usage records", left_out=3)
        with open(self.folder / "tasks" / "history.jsonl", "a", encoding="utf-8") as file:
            file.write('{"id":"1","title":"again","createdAt":"2026-01-01T00:00:00Z"}\n{"id"\n')
        self.expect("tasks", left_out=2)
        self.text("agents/huge/agent.json", '{"name":"' + "x" * (2 << 20) + '"}')
        self.text("agents/cut/agent.json", '{"name":')
        self.expect("agents", left_out=2)
        self.json("agents/extra/triggers.json", [{"id": "never", "cron": "0 0 30 2 *", "prompt": "x"},
                                                 {"id": "blank", "cron": "0 9 * * *", "prompt": " "}, "text"])
        self.expect("triggers", left_out=3)


def main():
    options = arguments(__doc__, [("--layout", {"choices": ["agent-store", "agents"], "default": "agent-store"})])
    nova = Nova(options)
    nova.make()
    if options.hostile:
        nova.spoil()
    tell(nova)


if __name__ == "__main__":
    main()

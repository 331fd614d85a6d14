// Something of everything, for tests.
import { appendEvents } from "./support.mjs";

const kCode = "```cpp\nResult<Upload> upload(const File& file) {\n  for (int attempt = 0; attempt < 3; ++attempt) {\n    if (auto done = try_once(file)) return done;\n    pause(backoff(attempt));\n  }\n  return report(file);\n}\n```";

const kTalk = [
  { role: "system", text: "You help with the importer. Be brief." },
  { role: "user", text: "What should happen when an upload fails? The importer gives up at once today, and people lose an evening." },
  { type: "assistant_text", text: "I look at how it is done now." },
  { type: "tool_use", name: "read_file", input: { path: "src/upload.cc", lines: "40-80" }, metadata: { tool_call_id: "call-1" } },
  { type: "message", role: "tool", text: '{"path":"src/upload.cc","retries":0,"reports":false}', metadata: { tool_call_id: "call-1", tool_name: "read_file" } },
  {
    role: "assistant",
    text: `There is no second attempt. I would do this:\n\n1. **Three attempts**, the pause doubling each time\n2. then *report*, with what was already sent\n\n${kCode}\n\n| attempt | pause |\n|---|---:|\n| 1 | 0.5 s |\n| 2 | 1 s |\n| 3 | 2 s |\n\nThe server tells apart what it has by \`Idempotency-Key\`, so that nothing arrives twice.`,
  },
  { type: "result", durationMs: 4210, inputTokens: 2480, outputTokens: 312, cost: 0.0123, turns: 2 },
  { role: "user", text: "Good. Three attempts it is; and the pause is never longer than ten seconds.", memoryType: "decision_point" },
  { type: "tool_use", name: "edit_file", input: { path: "src/upload.cc", patch: "@@ -52,6 +52,14 @@" }, metadata: { tool_call_id: "call-2" } },
  { type: "message", role: "tool", text: "the patch does not apply: line 54 differs", metadata: { tool_call_id: "call-2", tool_name: "edit_file", is_error: true } },
  { role: "assistant", text: "The file changed meanwhile, so I read it again before I edit. The cap of ten seconds goes into `backoff`." },
  { type: "result", durationMs: 2980, inputTokens: 3120, outputTokens: 188, cost: 0.0109, turns: 2 },
];

const kTitles = [
  ["Release notes for 0.9", "scribe"],
  ["Why the nightly build is slow", "helper"],
  ["مراجعة الواجهة العربية", "helper"],
  ["Names of the public headers", "reviewer"],
  ["Flaky test in the watcher", "helper"],
  ["Move the store to PostgreSQL", "helper"],
  ["Interview questions for Thursday", "scribe"],
  ["Review of the parser's errors", "reviewer"],
];

export async function fillServer(server) {
  for (const [title, agentId] of kTitles) {
    const metadata = { project: agentId === "scribe" ? "docs" : "importer" };
    const thread = await server.ask("POST", "/v1/threads", { title, agentId, metadata });
    await appendEvents(server, thread.threadId, [
      { role: "user", text: `${title}: where do we stand?` },
      { role: "assistant", text: "The first half is done. Retries are next, and then the report." },
    ]);
    if (title.startsWith("Interview")) await server.ask("POST", `/v1/threads/${thread.threadId}/status`, { status: "closed" });
    if (title.startsWith("Flaky")) await server.ask("POST", `/v1/threads/${thread.threadId}/status`, { status: "paused" });
  }
  const thread = await server.ask("POST", "/v1/threads", { title: "Retry policy of the importer", agentId: "helper", metadata: { project: "importer" } });
  await appendEvents(server, thread.threadId, kTalk);
  await server.ask("POST", "/v1/backfill", { agentId: "helper" });
  for (const text of ["Decide whether reports are mailed", "Package name still undecided", "Measure the importer with 10,000 files"]) {
    await server.ask("POST", "/v1/items", { text, thread: thread.threadId });
  }
  await server.ask("POST", "/v1/runs?wait=true", { agentId: "echo", text: "one two three" });
  return { thread: thread.threadId };
}

// restart.mjs PROGRAM STREAMS: kills `skein serve` in the middle of so many streams of the SDK, starts
// it again on the same port, and compares what each stream told with what is told from the
// beginning. Twice: with runs of the server that is killed, which end with it, and with runs of
// another server on the same store, which go on. Prints what differs, and fails if anything does.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@langchain/langgraph-sdk";

const [program, count] = [process.argv[2], Number(process.argv[3])];
const workspace = mkdtempSync(join(tmpdir(), "skein-restart-"));
mkdirSync(join(workspace, ".skein"));
writeFileSync(join(workspace, ".skein/config.json"), JSON.stringify({
  agents: {
    talker: { engine: "echo", options: { delayMs: 100 } },
    worker: {
      engine: "echo", capabilities: { builtin: ["work_items"] }, limits: { turns: 8 } },
  },
}));
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(workspace, { recursive: true, force: true });
});

async function serve(port = 0) {
  const child = spawn(program, ["serve", "--json", "--port", String(port)], {
    cwd: workspace, stdio: ["ignore", "pipe", "ignore"] });
  running.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...JSON.parse(line) };
  }
  throw new Error("the server did not start");
}

async function kill({ child }) {
  const gone = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await gone;
  running.delete(child);
}

const client = (url) => new Client({
  apiUrl: url, apiKey: null, callerOptions: { maxConcurrency: 2 * count, maxRetries: 10 } });

class Reader {
  frames = [];

  async read(stream) {
    for await (const frame of stream) {
      this.frames.push(frame);
      this.wake?.();
    }
  }
  // Until it has so many frames.
  async reach(number) {
    while (this.frames.length < number) await new Promise((done) => { this.wake = done; });
  }
}

let wrong = 0;
function complain(...words) {
  wrong += 1;
  if (wrong <= 10) console.log(...words);
}

const durable = (frames) => frames.filter((frame) => !frame.id.includes("."));
const say = (frames) => JSON.stringify(frames.map(({ id, event, data }) => [id, event, data]));

// What the first reading told against a second one, from the beginning.
async function compare(api, thread, run, reader, text) {
  const again = new Reader();
  await again.read(api.runs.joinStream(thread, run, { lastEventId: "-1" }));
  if (say(durable(reader.frames)) !== say(durable(again.frames))) {
    complain("stream", run, "told", say(durable(reader.frames)), "not", say(durable(again.frames)));
  }
  const ids = reader.frames.map((frame) => frame.id);
  if (new Set(ids).size !== ids.length) complain("stream", run, "told something twice:", ids);
  const told = reader.frames.filter((frame) => frame.event === "messages")
    .map((frame) => frame.data[0].content).join("");
  if (text !== undefined && !text.startsWith(told)) complain("stream", run, "said", told);
  return { frames: reader.frames.length, told: told.length };
}

async function interrupted() {
  const text = Array.from({ length: 300 }, (_, i) => `word${i} `).join("");
  let server = await serve();
  const api = client(server.url);
  const readers = [];
  for (let i = 0; i < count; ++i) {
    const { thread_id } = await api.threads.create({ graphId: "talker" });
    const reader = new Reader();
    const created = new Promise((done) => {
      reader.done = reader.read(api.runs.stream(thread_id, "talker", {
        input: { messages: [{ role: "user", content: text }] },
        streamMode: ["values", "messages-tuple"],
        streamResumable: true,
        onRunCreated: done,
      }));
    });
    readers.push({ thread_id, reader, created });
  }
  for (const { reader } of readers) await reader.reach(4);
  await kill(server);
  server = await serve(server.port);
  const seen = [];
  for (const { thread_id, reader, created } of readers) {
    await reader.done;
    const { run_id } = await created;
    seen.push(await compare(api, thread_id, run_id, reader, text));
    const run = await api.runs.get(thread_id, run_id);
    if (run.status !== "interrupted") complain("run", run_id, "is", run.status);
  }
  await kill(server);
  return seen;
}

async function going_on() {
  const worker = await serve();
  let server = await serve();
  const works = client(worker.url);
  const api = client(server.url);
  // Every other one uses tools, and has many frames.
  const inputs = {
    talker: Array.from({ length: 60 }, (_, i) => `word${i} `).join(""),
    worker: "/again list_work_items {}",
  };
  const readers = [];
  for (let i = 0; i < count; ++i) {
    const agent = i % 2 === 0 ? "worker" : "talker";
    const { thread_id } = await works.threads.create({ graphId: agent });
    const { run_id } = await works.runs.create(thread_id, agent, {
      input: { messages: [{ role: "user", content: inputs[agent] }] },
      streamMode: ["values", "updates"] });
    const reader = new Reader();
    reader.done = reader.read(api.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }))
      .then(() => { reader.over = true; });
    readers.push({ thread_id, run_id, reader, last: agent === "worker" ? "error" : "values" });
  }
  for (const { reader } of readers) await reader.reach(2);
  const open = readers.filter(({ reader }) => !reader.over).length;
  if (open === 0) complain("no stream was open any more");
  await kill(server);
  server = await serve(server.port);
  const seen = [];
  for (const { thread_id, run_id, reader, last } of readers) {
    await reader.done;
    seen.push(await compare(api, thread_id, run_id, reader));
    if (reader.frames.at(-1).event !== last) complain("run", run_id, "did not come to its end");
  }
  await kill(server);
  await kill(worker);
  return seen;
}

for (const scene of [interrupted, going_on]) {
  const seen = await scene();
  const frames = seen.map((one) => one.frames);
  console.log(`${scene.name}: ${seen.length} streams, ${Math.min(...frames)} to ` +
    `${Math.max(...frames)} frames each`);
}
console.log(`${wrong} differences`);
process.exit(wrong === 0 ? 0 : 1);

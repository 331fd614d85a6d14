// compare.mjs PROGRAM REFERENCE [--quick]: the calls of the LangGraph SDK on Skein, which flushes every write,
// and on the reference server, which keeps everything in memory; and through the SDK, on Skein and
// on a server that answers a constant, which is what Skein answered once. Both in one run, in turns, the median of three rounds. Run
// it by bench/langgraph/compare.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@langchain/langgraph-sdk";
import { ask, rate, request } from "./raw_client.mjs";

const [program, tool, ...options] = process.argv.slice(2);
const quick = options.includes("--quick");
const seconds = quick ? 1 : 4;
const rounds = quick ? 1 : 3;
const kThreads = quick ? 500 : 5000;
const kConnections = 16;
const kClients = 8;
const folder = mkdtempSync(join(tmpdir(), "skein-bench-"));
const children = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(command, args, where) {
  const child = spawn(command, args, { cwd: where, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`${command} did not start`);
}

async function skein() {
  return JSON.parse(await start(program, ["serve", "--json", "--port", "0"], folder)).port;
}

async function reference() {
  const port = 20000 + Math.floor(Math.random() * 20000);
  // With a group of its own, since it starts others.
  const child = spawn(tool, ["serve", String(port)], { stdio: "ignore", detached: true });
  process.on("exit", () => {
    try { process.kill(-child.pid, "SIGKILL"); } catch {}
  });
  for (let i = 0; i < 600; ++i) {
    try {
      await ask(port, "GET", "/ok");
      return port;
    } catch {
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  throw new Error("the reference server did not start");
}

const said = (text) => ({ messages: [{ role: "user", content: text }] });
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function make_threads(port, count) {
  const ids = [];
  let made = 0;
  await Promise.all(Array.from({ length: kConnections }, async () => {
    while (made < count) {
      const metadata = { graph_id: "echo", n: made++ };
      ids.push((await ask(port, "POST", "/threads", { metadata })).thread_id);
    }
  }));
  return ids;
}

// Each with threads of its own, that stay small.
const works = {
  "threads.create": async () => (i, n) =>
    request("POST", "/threads", { metadata: { graph_id: "echo", n } }),
  "threads.updateState": async (port) => {
    const ids = await make_threads(port, kConnections * 20);
    return (i, n) => request("POST", `/threads/${ids[i * 20 + (n % 20)]}/state`, {
      values: said(`number ${n}`), as_node: "agent" });
  },
  [`threads.search over ${kThreads} threads`]: async () => () =>
    request("POST", "/threads/search", { limit: 10 }),
  "runs.wait on a trivial agent": async (port) => {
    const ids = await make_threads(port, kConnections * 20);
    return (i, n) => request("POST", `/threads/${ids[i * 20 + (n % 20)]}/runs/wait`, {
      assistant_id: "echo", input: said("hello") });
  },
};

async function fill(port) {
  const { length } = await ask(port, "POST", "/threads/search", { limit: 1 });
  const there = length === 0 ? 0 : await ask(port, "POST", "/threads/count", {});
  await make_threads(port, Math.max(0, kThreads - there));
}

const rows = [];
// One call after the other: how long one of each takes.
function all_of_them(name, first, goal, against) {
  const each = (side) => 1 / rows.slice(first).reduce((sum, row) => sum + 1 / row[side], 0);
  row(name, each("ours"), each("theirs"), goal, against);
}

function row(work, ours, theirs, goal, against) {
  rows.push({ work, ours, theirs, ratio: ours / theirs, goal });
  console.log(`${work.padEnd(44)} ${Math.round(ours).toString().padStart(7)}/s  ` +
    `${against} ${Math.round(theirs).toString().padStart(6)}/s  ` +
    `${(ours / theirs).toFixed(2).padStart(7)} ×  goal ${goal} ×  ` +
    (ours / theirs >= goal ? "reached" : "MISSED"));
}

async function raw() {
  const ours = await skein();
  const theirs = await reference();
  for (const [work, prepare] of Object.entries(works)) {
    const rates = { ours: [], theirs: [] };
    if (work.includes("search")) {
      await fill(ours);
      await fill(theirs);
    }
    for (let round = 0; round < rounds; ++round) {
      rates.theirs.push(await rate(theirs, kConnections, seconds, await prepare(theirs)));
      rates.ours.push(await rate(ours, kConnections, seconds, await prepare(ours)));
    }
    row(`${work}, ${kConnections} connections`, median(rates.ours), median(rates.theirs), 20,
      "reference");
  }
  all_of_them("one of each", 0, 20, "reference");
}

// Calls a second of so many clients, each of which calls again as soon as it was answered.
async function sdk_rate(port, call) {
  const clients = Array.from({ length: kClients }, () => new Client({
    apiUrl: `http://127.0.0.1:${port}`, apiKey: null, callerOptions: { maxRetries: 0 } }));
  const until = performance.now() + seconds * 1000;
  let calls = 0;
  await Promise.all(clients.map(async (client, i) => {
    for (let n = 0; performance.now() < until; ++n) {
      await call(client, i, n);
      calls += 1;
    }
  }));
  return calls / seconds;
}

// What the server says to a call, word for word.
async function answer_to(port, call) {
  let said;
  const listen = async (...request) => {
    const response = await fetch(...request);
    said = await response.clone().text();
    return response;
  };
  await call(new Client({ apiUrl: `http://127.0.0.1:${port}`, apiKey: null,
    callerOptions: { maxRetries: 0, fetch: listen } }), 0, 0);
  return said;
}

async function through_sdk() {
  const first = rows.length;
  const ours = await skein();
  const constant = Number(await start(process.execPath,
    [new URL("./constant.mjs", import.meta.url).pathname], folder));
  await fill(ours);
  const ids = await make_threads(ours, kClients * 20);
  const calls = {
    "threads.create": (c, i, n) => c.threads.create({ metadata: { n }, graphId: "echo" }),
    "threads.updateState": (c, i, n) => c.threads.updateState(ids[i * 20 + (n % 20)], {
      values: said(`number ${n}`) }),
    "threads.search": (c) => c.threads.search({ limit: 10 }),
    "runs.wait": (c, i, n) => c.runs.wait(ids[i * 20 + (n % 20)], "echo", { input: said("hello") }),
  };
  for (const [name, call] of Object.entries(calls)) {
    const rates = { ours: [], theirs: [] };
    await fetch(`http://127.0.0.1:${constant}/`, {
      method: "PUT", body: await answer_to(ours, call) });
    for (let round = 0; round < rounds; ++round) {
      rates.theirs.push(await sdk_rate(constant, call));
      rates.ours.push(await sdk_rate(ours, call));
    }
    row(`${name} through the SDK, ${kClients} clients`, median(rates.ours), median(rates.theirs),
      0.8, "constant ");
  }
  all_of_them("one of each through the SDK", first, 0.8, "constant ");
}

await raw();
await through_sdk();
process.exit(rows.every(({ ratio, goal }) => ratio >= goal) ? 0 : 1);

// compare.mjs PROGRAM REFERENCE [--quick] [--only WORDS]: calls of the LangGraph API on Skein, which flushes every write,
// and on the reference server, which keeps everything in memory. Both are measured in one run, in turns, over 16
// connections: each figure is the median of three rounds. Run it by bench/langgraph/compare.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ask, rate, request } from "./raw_client.mjs";

const [program, tool, ...options] = process.argv.slice(2);
const quick = options.includes("--quick");
// Only rows whose names have these words in them.
const only = options.includes("--only") ? options[options.indexOf("--only") + 1] : "";
const seconds = quick ? 1 : 4;
const rounds = quick ? 1 : 3;
const kThreads = quick ? 500 : 5000;
const kConnections = 16;
const kThreadsEach = quick ? 50 : 200;  // that one connection writes to, so that they stay small
const folder = mkdtempSync(join(tmpdir(), "skein-bench-"));
const children = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(command, args, where) {
  const child = spawn(command, args, { cwd: where, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { line, pid: child.pid };
  throw new Error(`${command} did not start`);
}

async function skein() {
  const workspace = mkdtempSync(join(folder, "workspace-"));
  const { line, pid } = await start(program, ["serve", "--json", "--port", "0"], workspace);
  return { port: JSON.parse(line).port, pid };
}

async function reference() {
  const port = 20000 + Math.floor(Math.random() * 10000);  // none that the system gives by itself
  // With a group of its own, since it starts others.
  const child = spawn(tool, ["serve", String(port)], { stdio: "ignore", detached: true });
  process.on("exit", () => {
    try { process.kill(-child.pid, "SIGKILL"); } catch {}
  });
  for (let i = 0; i < 600; ++i) {
    try {
      await ask(port, "GET", "/ok");
      return { port, pid: -child.pid };
    } catch {
      await new Promise((done) => setTimeout(done, 200));
    }
  }
  throw new Error("the reference server did not start");
}

// While one server is measured the others stand still, whatever they may have left to do.
async function alone(servers, side, work) {
  const others = Object.values(servers).filter((server) => server !== servers[side]);
  for (const { pid } of others) process.kill(pid, "SIGSTOP");
  try {
    return await work();
  } finally {
    for (const { pid } of others) process.kill(pid, "SIGCONT");
  }
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

// What is called, and how many times faster than the reference server Skein has to be. The search comes
// first, while there are as many threads as its name says. `thread` is one of the caller's own.
const kSearch = `threads.search over ${kThreads} threads`;
const works = {
  [kSearch]: { goal: 20, call: () => request("POST", "/threads/search", { limit: 10 }) },
  "threads.create": {
    goal: 2.5,
    call: (thread, n) => request("POST", "/threads", { metadata: { graph_id: "echo", n } }),
  },
  "threads.updateState": {
    goal: 20,
    call: (thread, n) => request("POST", `/threads/${thread}/state`, {
      values: said(`number ${n}`), as_node: "agent" }),
  },
  "runs.wait on a trivial agent": {
    goal: 20,
    call: (thread) => request("POST", `/threads/${thread}/runs/wait`, {
      assistant_id: "echo", input: said("hello") }),
  },
};
const kInTurn = Object.values(works);
works["one after the other"] = {
  call: (thread, n) => kInTurn[n % kInTurn.length].call(thread, n),
};

const rows = [];
function row(work, ours, theirs, goal) {
  const ratio = ours / theirs;
  rows.push({ ratio, goal });
  console.log(`${work.padEnd(46)} ${Math.round(ours).toString().padStart(7)}/s  ` +
    `reference ${Math.round(theirs).toString().padStart(6)}/s  ${ratio.toFixed(2).padStart(7)} ×` +
    (goal === undefined ? "" : `  goal ${goal} ×  ${ratio >= goal ? "reached" : "MISSED"}`));
}

// The rates of each of them.
async function measure(sides, once) {
  const rates = Object.fromEntries(sides.map((side) => [side, []]));
  for (let round = 0; round < rounds; ++round) {
    for (const side of sides) rates[side].push(await once(side));
  }
  return Object.fromEntries(sides.map((side) => [side, median(rates[side])]));
}

async function compare() {
  const name_of = (work) => `${work}, ${kConnections} connections`;
  if (!Object.keys(works).some((work) => name_of(work).includes(only))) return;
  const servers = { ours: await skein(), theirs: await reference() };
  for (const { port } of Object.values(servers)) await make_threads(port, kThreads);
  for (const [work, { goal, call }] of Object.entries(works)) {
    const name = name_of(work);
    if (!name.includes(only)) continue;
    const { ours, theirs } = await measure(["theirs", "ours"], async (side) => {
      const { port } = servers[side];
      const ids = await make_threads(port, work === kSearch ? 0 : kConnections * kThreadsEach);
      return alone(servers, side, () => rate(port, kConnections, seconds,
        (i, n) => call(ids[i * kThreadsEach + (n % kThreadsEach)], n)));
    });
    row(name, ours, theirs, goal);
  }
}

await compare();
process.exit(rows.every(({ ratio, goal }) => goal === undefined || ratio >= goal) ? 0 : 1);

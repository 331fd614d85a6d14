// compare.mjs PROGRAM REFERENCE FLUSHING [--quick] [--only WORDS]: the calls of the LangGraph SDK on Skein, which
// flushes every write, and on the reference server, which keeps everything in memory; and through the
// SDK, on Skein and on a server that answers constants, which are what Skein answered once; and, for
// what a disk takes, on one that flushes as often as the call must and then answers. All in one run,
// in turns: over connections the median of three rounds, through the SDK the median ratio of many short
// ones, since the speed of a shared machine changes from second to second. Run it by
// bench/langgraph/compare.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@langchain/langgraph-sdk";
import { ask, rate, request } from "./raw_client.mjs";

const [program, tool, flushing, ...options] = process.argv.slice(2);
const quick = options.includes("--quick");
// Only rows whose names have these words in them.
const only = options.includes("--only") ? options[options.indexOf("--only") + 1] : "";
const seconds = quick ? 1 : 4;
const rounds = quick ? 1 : 3;
const kSlice = 0.5;  // seconds of a round through the SDK
const sdk_rounds = quick ? 3 : 17;
const kThreads = quick ? 500 : 5000;
const kConnections = 16;
const kClients = 8;
const kThreadsEach = quick ? 50 : 200;  // that one connection or client writes to, so that they stay small
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

// What is called, as bytes and through the SDK, and how many flushes it takes one after the other.
// The search comes first, while there are as many threads as its name says. `thread` is one of the
// caller's own.
const kSearch = `threads.search over ${kThreads} threads`;
const works = {
  [kSearch]: {
    raw: () => request("POST", "/threads/search", { limit: 10 }),
    sdk: (client) => client.threads.search({ limit: 10 }),
    flushes: 0,
  },
  "threads.create": {
    raw: (thread, n) => request("POST", "/threads", { metadata: { graph_id: "echo", n } }),
    sdk: (client, thread, n) => client.threads.create({ metadata: { n }, graphId: "echo" }),
    flushes: 1,
  },
  "threads.updateState": {
    raw: (thread, n) => request("POST", `/threads/${thread}/state`, {
      values: said(`number ${n}`), as_node: "agent" }),
    sdk: (client, thread, n) => client.threads.updateState(thread, {
      values: said(`number ${n}`) }),
    flushes: 1,
  },
  "runs.wait on a trivial agent": {
    raw: (thread) => request("POST", `/threads/${thread}/runs/wait`, {
      assistant_id: "echo", input: said("hello") }),
    sdk: (client, thread) => client.runs.wait(thread, "echo", { input: said("hello") }),
    flushes: 1,
  },
};
const kInTurn = Object.keys(works);
const in_turn = (n) => works[kInTurn[n % kInTurn.length]];
works["one after the other"] = {
  raw: (thread, n) => in_turn(n).raw(thread, n),
  sdk: (client, thread, n) => in_turn(n).sdk(client, thread, n),
};

const rows = [];
function row(work, ours, theirs, goal, against, ratio = ours / theirs) {
  rows.push({ ratio, goal });
  console.log(`${work.padEnd(46)} ${Math.round(ours).toString().padStart(7)}/s  ` +
    `${against} ${Math.round(theirs).toString().padStart(6)}/s  ${ratio.toFixed(2).padStart(7)} ×` +
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

async function raw() {
  const name_of = (work) => `${work}, ${kConnections} connections`;
  if (!Object.keys(works).some((work) => name_of(work).includes(only))) return;
  const servers = { ours: await skein(), theirs: await reference() };
  for (const { port } of Object.values(servers)) await make_threads(port, kThreads);
  for (const [work, { raw }] of Object.entries(works)) {
    const name = name_of(work);
    if (!name.includes(only)) continue;
    const { ours, theirs } = await measure(["theirs", "ours"], async (side) => {
      const { port } = servers[side];
      const ids = await make_threads(port, work === kSearch ? 0 : kConnections * kThreadsEach);
      return alone(servers, side, () => rate(port, kConnections, seconds,
        (i, n) => raw(ids[i * kThreadsEach + (n % kThreadsEach)], n)));
    });
    row(name, ours, theirs, work === "one after the other" ? 20 : undefined, "reference");
  }
}

const clients_of = (port) => Array.from({ length: kClients }, () => new Client({
  apiUrl: `http://127.0.0.1:${port}`, apiKey: null, callerOptions: { maxRetries: 0 } }));

// Calls a second of clients of which each calls again as soon as it was answered. `first` numbers
// their first calls.
async function sdk_rate(clients, first, call) {
  const begin = performance.now();
  let calls = 0;
  await Promise.all(clients.map(async (client, i) => {
    for (let n = first; performance.now() < begin + kSlice * 1000; ++n) {
      await call(client, i, n);
      calls += 1;
    }
  }));
  return calls / (performance.now() - begin) * 1000;
}

// Teaches the other server what this one says to a call, and how often it is to flush before.
async function learn(from, to, flushes, call) {
  const listen = async (url, init) => {
    const response = await fetch(url, init);
    const body = await response.clone().text();
    await fetch(`http://127.0.0.1:${to}${new URL(url).pathname}`, {
      method: "PUT", body, headers: { flushes: String(flushes) } });
    return response;
  };
  await call(new Client({ apiUrl: `http://127.0.0.1:${from}`, apiKey: null,
    callerOptions: { maxRetries: 0, fetch: listen } }));
}

async function through_sdk() {
  const other = async (command, argument) => {
    const { line, pid } = await start(command, [argument], folder);
    return { port: Number(line), pid };
  };
  const servers = {
    constant: await other(process.execPath, new URL("./constant.mjs", import.meta.url).pathname),
    flushing: await other(flushing, join(folder, "flushed")),
  };
  for (const [work, { sdk, flushes }] of Object.entries(works)) {
    const name = `${work}, through the SDK, ${kClients} clients`;
    if (!name.includes(only)) continue;
    // A store of its own for each, with as many threads.
    if (servers.ours) process.kill(servers.ours.pid, "SIGKILL");
    servers.ours = await skein();
    const sides = ["ours", "constant", "flushing"];
    const ports = Object.fromEntries(sides.map((side) => [side, servers[side].port]));
    await make_threads(ports.ours, kThreads);
    // New ones for each round: answers have all messages of a thread, and are to be as long as the
    // constants.
    const new_threads = () => make_threads(ports.ours, work === kSearch ? 0 : kClients * kThreadsEach);
    let ids = await new_threads();
    const call = (client, i, n) => sdk(client, ids[i * kThreadsEach + (n % kThreadsEach)], n);
    for (let n = 0; n < kInTurn.length; ++n) {
      for (const other of ["constant", "flushing"]) {
        await learn(ports.ours, ports[other], flushes ?? in_turn(n).flushes,
          (client) => call(client, 0, n));
      }
    }
    const clients = Object.fromEntries(sides.map((side) => [side, clients_of(ports[side])]));
    const rates = Object.fromEntries(sides.map((side) => [side, []]));
    // The first rounds only warm up the client.
    for (let round = -2; round < sdk_rounds; ++round) {
      ids = await new_threads();
      for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
        const got = await alone(servers, side,
          () => sdk_rate(clients[side], (round + 2) * 1000, call));
        if (round >= 0) rates[side].push(got);
      }
    }
    const typical = (side) => median([...rates[side]]);
    const compared = (side, other) =>
      [typical(side), typical(other), median(rates[side].map((rate, i) => rate / rates[other][i]))];
    const [ours, constant, ratio] = compared("ours", "constant");
    row(name, ours, constant, 0.8, "constant ", ratio);
    if (work === kSearch) continue;
    const [most, , share] = compared("flushing", "constant");
    row("  a server that only flushes", most, constant, undefined, "constant ", share);
  }
}

await raw();
await through_sdk();
process.exit(rows.every(({ ratio, goal }) => goal === undefined || ratio >= goal) ? 0 : 1);

// node bench/page.mjs PROGRAM [THREADS]: how long the page takes to show a server with many threads, how it
// scrolls, and how many bytes it is. The browser is Debian's chromium, the server the real one.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { chromium } from "../tests/browser/node_modules/playwright-core/index.mjs";

const [program, threads = "100000"] = process.argv.slice(2);
if (!program) {
  console.error("usage: node bench/page.mjs PROGRAM [THREADS]");
  process.exit(2);
}

const workspace = mkdtempSync(join(tmpdir(), "skein-page-bench-"));
const child = spawn(program, ["--workspace", workspace, "serve", "--port", "0", "--json"], {
  env: { ...process.env, SKEIN_EMBEDDER: "none" },
  stdio: ["ignore", "pipe", "inherit"],
});
const line = await new Promise((resolve) => createInterface(child.stdout).once("line", resolve));
const { url } = JSON.parse(line);

async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

// So many at once that their flushes are shared.
async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const report = (what, figure, goal) => console.log(`${what.padEnd(58)} ${figure.padStart(12)}   ${goal}`);

console.error(`making ${threads} threads`);
await inParallel(Number(threads), (at) => ask("/v1/threads", { agentId: `agent-${at % 7}`, title: `Conversation ${at}`, metadata: { user: at % 100 } }));
const long = await ask("/v1/threads", { agentId: "agent-0", title: "Very long" });
for (let at = 0; at < 20_000; at += 500) {
  const events = Array.from({ length: 500 }, (_, one) => ({
    role: one % 2 === 0 ? "user" : "assistant",
    text: `Line ${at + one + 1}\n\n${"Words of a message. ".repeat((one % 9) + 1)}`,
  }));
  await ask(`/v1/threads/${long.threadId}/events/batch`, { events });
}

const browser = await chromium.launch({
  executablePath: process.env.SKEIN_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// A new context each time: nothing is cached.
async function open(path, selector) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  const page = await context.newPage();
  await page.addInitScript((wanted) => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector(wanted)) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => (window.shownAt = performance.now())));
    }).observe(document, { childList: true, subtree: true });
  }, selector);
  await page.goto(url + "/" + path);
  await page.waitForFunction(() => window.shownAt !== undefined, undefined, { timeout: 60_000 });
  const figures = await page.evaluate(() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    shown: window.shownAt,
  }));
  return { context, page, ...figures };
}

async function measure(path, selector) {
  const paints = [];
  const showns = [];
  for (let round = 0; round < 7; ++round) {
    const { context, paint, shown } = await open(path, selector);
    paints.push(paint);
    showns.push(shown);
    await context.close();
  }
  return { paint: median(paints), shown: median(showns) };
}

const list = await measure("#/threads", ".thread-row");
report(`${threads} threads: first paint`, `${list.paint.toFixed(0)} ms`, "goal: under 1000 ms");
report(`${threads} threads: first rows painted`, `${list.shown.toFixed(0)} ms`, "goal: under 1000 ms");
const thread = await measure(`#/thread/${long.threadId}`, ".event .body");
report("20,000 messages: newest painted", `${thread.shown.toFixed(0)} ms`, "");

// Scrolls through the thread by frames, a screen in three of them, and counts those that came late.
const { context, page } = await open(`#/thread/${long.threadId}`, ".event .body");
const scroll = await page.evaluate(async () => {
  const box = document.querySelector('.conversation .virtual');
  const gaps = [];
  let most = 0;
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 400; ++frame) {
    box.scrollTop -= box.clientHeight / 3;
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll(".virtual-row").length);
  }
  gaps.sort((a, b) => a - b);
  return { median: gaps[200], p95: gaps[380], rows: most };
});
await context.close();
report("20,000 messages: frame while scrolling, median", `${scroll.median.toFixed(1)} ms`, "");
report("20,000 messages: frame while scrolling, 95 of 100", `${scroll.p95.toFixed(1)} ms`, "");
report("20,000 messages: rows in the page at most", String(scroll.rows), "only what is visible");

const dist = join(dirname(program), "page");
const sizes = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== "licences.txt")
  .map((entry) => readFileSync(join(entry.parentPath ?? entry.path, entry.name)))
  .map((bytes) => Math.min(bytes.length, gzipSync(bytes, { level: 9 }).length));
report("the page, compressed, fonts included", `${(sizes.reduce((a, b) => a + b, 0) / 1000).toFixed(0)} KB`, "goal: under 250 KB");

await browser.close();
child.kill("SIGTERM");
await new Promise((resolve) => child.on("exit", resolve));
rmSync(workspace, { recursive: true, force: true });

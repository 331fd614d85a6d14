// A real server with a workspace of its own, and a real browser that looks at it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { chromium } from "playwright-core";

export const kWaitMs = 60_000;

const program = process.env.SKEIN_PROGRAM;
const browserProgram = process.env.SKEIN_CHROMIUM ?? "/usr/bin/chromium";
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--force-color-profile=srgb",
];

// What was started is stopped at the end of the file, the last first.
const cleanups = [];
export async function cleanUp() {
  for (const clean of cleanups.splice(0).reverse()) await clean();
}
after(cleanUp);

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "skein-browser-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Agents by name: what stands in their agent.json.
export function makeWorkspace({ agents = {}, config } = {}) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".skein"));
  for (const [name, definition] of Object.entries(agents)) {
    mkdirSync(join(folder, "agents", name), { recursive: true });
    writeFileSync(join(folder, "agents", name, "agent.json"), JSON.stringify(definition));
  }
  if (config) writeFileSync(join(folder, ".skein", "config.json"), JSON.stringify(config));
  return folder;
}

// Where Skein keeps what belongs to the user: one folder for all of a file's tests, never the real one.
let userFolder;
const environment = () => {
  userFolder ??= temporaryFolder();
  const kept = { ...process.env, SKEIN_EMBEDDER: "none", NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1", XDG_CONFIG_HOME: userFolder };
  for (const name of ["SKEIN_STORE", "SKEIN_WORKSPACE", "SKEIN_CONFIG", "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY"]) delete kept[name];
  return kept;
};

// The program, run to its end.
export function skein(workspace, ...args) {
  const done = spawnSync(program, ["--workspace", workspace, ...args], { encoding: "utf8", env: environment(), cwd: workspace });
  assert.equal(done.status, 0, `skein ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export function run(folder, command, ...args) {
  const done = spawnSync(command, args, { cwd: folder, encoding: "utf8", env: environment() });
  assert.equal(done.status, 0, `${command} ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export async function startServer(workspace, { port = 0 } = {}) {
  const child = spawn(program, ["--workspace", workspace, "serve", "--port", String(port), "--json"], {
    env: environment(),
    cwd: workspace,
    stdio: ["ignore", "pipe", "pipe"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const first = await new Promise((resolve, reject) => {
    createInterface(child.stdout).on("line", resolve);
    ended.then((code) => reject(new Error(`skein serve ended with ${code}: ${said}`)));
  });
  const { url } = JSON.parse(first);
  const server = {
    url,
    port: Number(new URL(url).port),
    workspace,
    key: "",
    async ask(method, path, body) {
      const headers = { "Content-Type": "application/json" };
      if (server.key) headers.Authorization = "Bearer " + server.key;
      const init = { method, headers: body === undefined && !server.key ? {} : headers };
      if (body !== undefined) init.body = JSON.stringify(body);
      const response = await fetch(url + path, init);
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
      return text === "" ? undefined : JSON.parse(text);
    },
    async stop(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
  cleanups.push(() => server.stop("SIGKILL"));
  return server;
}

// Events of a thread, as many as there are.
export async function appendEvents(server, thread, events) {
  for (let at = 0; at < events.length; at += 500) {
    const { results } = await server.ask("POST", `/v1/threads/${thread}/events/batch`, { events: events.slice(at, at + 500) });
    for (const result of results) assert.ok(result.seq, JSON.stringify(result));
  }
}

let browser;
export async function openBrowser() {
  if (browser) return browser;
  browser = await chromium.launch({ executablePath: browserProgram, args: flags, headless: true, timeout: kWaitMs });
  cleanups.push(() => browser.close());
  return browser;
}

// A page that notes everything that went wrong in it. `expected`: what may, by a test's doing.
export async function openPage(server, { path = "", expected = [], ...options } = {}) {
  const context = await (await openBrowser()).newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(kWaitMs);
  const problems = [];
  const note = (text) => {
    if (!expected.some((pattern) => pattern.test(text))) problems.push(text);
  };
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) note(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => note(String(error)));
  page.on("dialog", (dialog) => {
    note(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(server.url + "/" + path);
  return {
    page,
    problems,
    async done() {
      assert.deepEqual(problems, []);
      await context.close();
    },
  };
}

// Waits until it holds, however long the machine takes; says what it saw last.
export async function eventually(look, what) {
  const until = Date.now() + kWaitMs;
  let seen;
  for (;;) {
    seen = await look();
    if (seen) return seen;
    if (Date.now() > until) assert.fail(`never happened: ${what}; last seen: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

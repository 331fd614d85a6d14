// node tools/page_pictures.mjs PROGRAM: the pictures in docs/page, of a server with something of everything.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

process.env.SKEIN_PROGRAM = resolve(process.argv[2] ?? "build/release/skein");
const { cleanUp, makeWorkspace, openPage, run, skein, startServer } = await import("../tests/browser/support.mjs");
const { fillServer } = await import("../tests/browser/sample.mjs");

const target = join(import.meta.dirname, "..", "docs", "page");
mkdirSync(target, { recursive: true });

const workspace = makeWorkspace({
  agents: { helper: { engine: "echo", options: { costUsd: 0.02 } }, scribe: { engine: "echo" }, reviewer: { engine: "echo" } },
  config: { defaultAgent: "helper" },
});
const git = (...args) => run(workspace, "git", "-c", "user.name=Ana", "-c", "user.email=ana@example.org", ...args);
const commit = (file, text, subject) => {
  writeFileSync(join(workspace, file), text);
  git("add", file);
  git("commit", "-q", "-m", subject);
};
git("init", "-q", "-b", "main");
commit("upload.cc", "one attempt\n", "Upload with one attempt");
skein(workspace, "checkpoint", "upload-works", "--title", "Uploads work", "--summary", "One attempt, and errors reach the caller as values.", "--next-step", "Three attempts with a growing pause", "--next-step", "Report what was already sent", "--tag", "importer");
commit("upload.cc", "three attempts\n", "Try three times");
commit("report.cc", "report\n", "Report what was sent");
skein(workspace, "handoff", "retries", "--title", "Retries, for Ben", "--summary", "Three attempts are in; the cap of ten seconds is not. The report lists what arrived.", "--next-step", "Cap the pause");

const server = await startServer(workspace);
const sample = await fillServer(server);
const views = {
  threads: ["#/threads", ".thread-row"],
  thread: [`#/thread/${sample.thread}`, ".event .body"],
  context: [`#/thread/${sample.thread}`, ".event .body"],
  search: ["#/search?q=What+happens+when+an+upload+fails&agent=helper", ".hit"],
  items: ["#/items", ".item"],
  checkpoints: ["#/checkpoints", ".checkpoint"],
  usage: ["#/usage", ".plot"],
  live: ["#/live", ".view"],
};

for (const colorScheme of ["light", "dark"]) {
  for (const [name, [path, shown]] of Object.entries(views)) {
    const viewport = name === "context" ? { width: 1520, height: 860 } : { width: 1280, height: 760 };
    const { page, done } = await openPage(server, { path, colorScheme, viewport });
    await page.locator(shown).first().waitFor();
    if (name === "thread") await page.locator("details.tool summary").last().click();
    if (name === "context") await page.getByRole("button", { name: "Context window" }).click();
    if (name === "context") await page.locator(".window-sum").waitFor();
    if (name === "search") await page.locator(".why summary").first().click();
    if (name === "checkpoints") await page.locator(".checkpoint a").last().click();
    if (name === "checkpoints") await page.locator(".checkpoint-details").waitFor();
    if (name === "live") await talk(page);
    await page.waitForTimeout(700);
    await page.screenshot({ path: join(target, `${name}-${colorScheme}.png`) });
    await done();
  }
}

async function talk(page) {
  await page.locator(".connection.live").waitFor();
  for (const text of ["Where were we?", "Is the cap in already?", "Then hand it over to Ben."]) {
    await server.ask("POST", "/v1/runs?wait=true", { agentId: "helper", text });
  }
  await page.locator(".activity-row", { hasText: "hand it over" }).first().waitFor();
}
await cleanUp();

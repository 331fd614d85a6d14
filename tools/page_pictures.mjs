// node tools/page_pictures.mjs PROGRAM: the pictures in docs/page, of a server on what `skein demo` makes.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withPalette } from "./png_palette.mjs";

process.env.SKEIN_PROGRAM = resolve(process.argv[2] ?? "build/release/skein");
const { cleanUp, openPage, skein, startServer, temporaryFolder } = await import("../tests/browser/support.mjs");

const target = join(import.meta.dirname, "..", "docs", "page");
mkdirSync(target, { recursive: true });

const folder = temporaryFolder();
skein(folder, "demo", "ferry");
const workspace = join(folder, "ferry");
const server = await startServer(workspace);
const { threads } = await server.ask("GET", "/v1/threads?limit=100");
const titled = (title) => threads.find((thread) => thread.title === title).threadId;
const long = titled("Delays from the operator's feed");
const forked = titled("Next departure, also around midnight");

// Where each view is, what there is to be seen in it, and what is done before.
const views = {
  threads: ["#/threads", ".thread-row"],
  thread: [`#/thread/${forked}`, ".event .body", openTool],
  context: [`#/thread/${long}`, ".event .body", openContext],
  search: ["#/search?q=What+did+we+decide+about+retries", ".hit", (page) => page.locator(".why summary").first().click()],
  items: ["#/items", ".item"],
  checkpoints: ["#/checkpoints", ".checkpoint", openCheckpoint],
  usage: ["#/usage", ".plot"],
  live: ["#/live", ".view", talk],
};

for (const [name, [path, shown, prepare]] of Object.entries(views)) {
  for (const colorScheme of ["light", "dark"]) {
    const viewport = { width: name === "context" ? 1520 : 1200, height: 760 };
    const { page, done } = await openPage(server, { path, colorScheme, viewport });
    await page.locator(shown).first().waitFor();
    await page.locator(".connection.live").waitFor();
    await prepare?.(page);
    await page.evaluate(() => document.fonts.ready);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(700); // until what moves stands still
    writeFileSync(join(target, `${name}-${colorScheme}.png`), withPalette(await page.screenshot()));
    await done();
  }
}
await cleanUp();

async function openTool(page) {
  await page.locator("details.tool summary", { hasText: "test_ferry.py" }).last().click();
}

async function openContext(page) {
  await page.getByRole("button", { name: "Context window" }).click();
  await page.locator(".window-sum").waitFor();
}

async function openCheckpoint(page) {
  await page.locator(".checkpoint a").first().click();
  await page.locator(".checkpoint-details").waitFor();
  await page.locator("h1").scrollIntoViewIfNeeded();
}

async function talk(page) {
  for (const [title, role, text] of [
    ["What 0.3 should have", "user", "Is the age of the delays in already?"],
    ["How old are the delays?", "assistant", "Half of it: `delays.py` keeps the answer, but not yet its time."],
    ["How old are the delays?", "user", "Then hand it over to the reviewer when the test passes."],
    ["Tickets for tomorrow", "assistant", "Your tickets are valid on the 9:15, too; it runs four minutes late."],
  ]) {
    await server.ask("POST", `/v1/threads/${titled(title)}/messages`, { role, text });
  }
  await page.locator(".activity-row", { hasText: "Your tickets" }).first().waitFor();
}

// axe-core on every view, in light and dark, on a wide screen and on a phone.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fillServer } from "./sample.mjs";
import { makeWorkspace, openPage, startServer } from "./support.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const server = await startServer(makeWorkspace());
const sample = await fillServer(server);

const views = [
  ["threads", "#/threads", ".thread-row"],
  ["a thread", `#/thread/${sample.thread}`, ".event .body"],
  ["search", "#/search?q=retries&agent=helper", ".hit"],
  ["items", "#/items", ".item"],
  ["checkpoints", "#/checkpoints", ".empty"],
  ["usage", "#/usage", ".plot"],
  ["live", "#/live", ".view"],
];
const kinds = [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { colorScheme: "light", viewport: { width: 390, height: 780 }, hasTouch: true }],
];

for (const [kind, options] of kinds) {
  test(`nobody is kept out: ${kind}`, async () => {
    const { page, done } = await openPage(server, { ...options, bypassCSP: true });
    await page.evaluate(axe);
    for (const [name, path, shown] of views) {
      await page.goto(server.url + "/" + path);
      await page.locator(shown).first().waitFor();
      if (name === "a thread") await page.locator("details.tool summary").first().click();
      const found = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }),
      );
      const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      const words = serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map((node) => node.html.slice(0, 120) + " " + node.failureSummary).join("; ")}`);
      assert.deepEqual(words, []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      assert.equal(wide, false, `${name} is wider than the screen`);
    }
    await done();
  });
}

// What is stored was written by anybody. Nothing of it may do anything in the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appendEvents, eventually, makeWorkspace, openPage, startServer } from "./support.mjs";

const server = await startServer(makeWorkspace());

const kScript = `<script>window.harmed = "script"</script>`;
const kTexts = [
  kScript,
  `<img src=x onerror="window.harmed = 'image'">`,
  `[press me](javascript:window.harmed='link') and [me](JaVaScRiPt&colon;window.harmed='coded') <javascript:alert(1)>`,
  `[data](data:text/html,<script>window.harmed=1</script>) ![pixel](https://tracker.invalid/pixel.png)`,
  `<iframe src="https://frame.invalid"></iframe><svg onload="window.harmed='svg'"></svg><style>*{display:none}</style>`,
  `\u202Egnirts a fo edis rehto eht\u202C and \u2066isolated`,
  "مرحبا بالعالم، هذا نص من اليمين إلى اليسار",
  "x".repeat(2_000_000),
  "`".repeat(50_000),
  "[".repeat(20_000) + "a",
  "*_".repeat(30_000),
  "> ".repeat(5_000) + "deep",
  "- ".repeat(3_000) + "list",
  "```html\n" + kScript + "\n```",
];

async function hostileThread() {
  const thread = await server.ask("POST", "/v1/threads", {
    agentId: "echo",
    title: `${kScript}<b>bold</b>\u202Etitle`,
    metadata: { note: `"><script>window.harmed='metadata'</script>` },
  });
  await appendEvents(server, thread.threadId, [
    ...kTexts.map((text, at) => ({ role: at % 2 === 0 ? "user" : "assistant", text })),
    { type: "tool_use", name: kScript, input: { html: kScript }, metadata: { tool_call_id: "1" } },
    { type: "message", role: "tool", text: kScript, metadata: { tool_call_id: "1" } },
  ]);
  return thread;
}

test("hostile content is shown as text and does nothing", async () => {
  const thread = await hostileThread();
  const asked = [];
  const { page, done } = await openPage(server, { path: "#/threads" });
  page.on("request", (request) => asked.push(request.url()));
  await page.locator(".thread-row").first().waitFor();
  await page.goto(`${server.url}/#/thread/${thread.threadId}`);
  const log = page.getByRole("region", { name: "Messages" });
  await page.locator("details.tool").last().waitFor();
  await page.locator("details.tool summary").last().click();
  for (let seq = kTexts.length; seq >= 1; --seq) {
    await page.goto(`${server.url}/#/thread/${thread.threadId}/${seq}`);
    await page.locator(".event.marked").waitFor();
  }
  await eventually(async () => (await log.textContent()).includes(`window.harmed = "script"`), "the script as text");
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await page.locator("#page script, #page iframe, #page img, #page style").count(), 0);
  for (const link of await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.getAttribute("href")))) {
    assert.match(link, /^(#|https?:|mailto:|\/)/);
  }
  assert.deepEqual(asked.filter((url) => !url.startsWith(server.url)), []);
  assert.ok(await page.locator(".composer textarea").isVisible());
  await done();
});

test("a line without end neither widens the page nor stops it", async () => {
  const { threads } = await server.ask("GET", "/v1/threads?limit=1");
  const huge = kTexts.findIndex((text) => text.length === 2_000_000) + 1;
  const { page, done } = await openPage(server, { path: `#/thread/${threads[0].threadId}/${huge}` });
  await page.locator(".event.marked").getByRole("button", { name: /Show more/ }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(wide, false);
  await done();
});

test("the policy of the page lets nothing inline run, and nothing foreign in", async () => {
  const response = await fetch(server.url + "/");
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'/);
  assert.doesNotMatch(policy, /unsafe/);
  const { page } = await openPage(server, { expected: [/Content.Security.Policy/i, /TrustedHTML|TrustedScript/] });
  await page.locator(".threads").waitFor();
  const outcome = await page.evaluate(() => {
    const script = document.createElement("script");
    try {
      script.textContent = "window.harmed = 'inline'";
    } catch (error) {
      return error.name;
    }
    document.body.append(script);
    return window.harmed ?? "stopped";
  });
  assert.ok(["stopped", "TypeError"].includes(outcome), outcome);
});

test("a tool's lines stay in its card, and text of many lines is shown as such", async () => {
  const thread = await server.ask("POST", "/v1/threads", { agentId: "echo", title: "Wide tools" });
  const input = { path: "a.py", insert: "def f():\n    return 1\n", wide: "w".repeat(5000), [kScript]: "one\ntwo" };
  await appendEvents(server, thread.threadId, [
    { type: "tool_use", name: "n".repeat(200), input, metadata: { tool_call_id: "1" } },
    { type: "message", role: "tool", text: "r".repeat(5000), metadata: { tool_call_id: "1" } },
  ]);
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  await page.locator("details.tool summary").click();
  await page.locator(".code-block", { hasText: "rrr" }).waitFor();
  const inserted = page.locator(".labelled", { has: page.getByText("insert", { exact: true }) }).locator("code");
  assert.equal(await inserted.textContent(), input.insert);
  const outside = await page.locator("details.tool").evaluate((card) => {
    const { right } = card.getBoundingClientRect();
    return [...card.querySelectorAll(".code-block, .tool-state, .tool-foot")].filter((part) => part.getBoundingClientRect().right > right).length;
  });
  assert.equal(outside, 0);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  await done();
});

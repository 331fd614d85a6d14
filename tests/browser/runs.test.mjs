import assert from "node:assert/strict";
import { test } from "node:test";
import { appendEvents, eventually, makeWorkspace, openPage, startServer } from "./support.mjs";

const server = await startServer(
  makeWorkspace({
    agents: {
      quick: { engine: "echo" },
      slow: { engine: "echo", options: { delayMs: 60, repeat: 2000 } },
    },
  }),
);
const makeThread = (agentId, title) => server.ask("POST", "/v1/threads", { agentId, title });

test("an answer appears word by word, and a stop ends it", async () => {
  const thread = await makeThread("slow", "A long answer");
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  await page.getByLabel("Message to slow").fill("again and again");
  await page.keyboard.press("Enter");
  const live = page.locator(".event.live .markdown");
  await live.waitFor();
  const before = (await live.textContent()).length;
  await eventually(async () => (await live.textContent()).length > before + 20, "more words");
  assert.equal((await server.ask("GET", `/v1/threads/${thread.threadId}/messages?role=assistant`)).messages.length, 0);

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("(stopped by user)").waitFor();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  assert.equal(await page.locator(".event.live").count(), 0);
  const { runs } = await server.ask("GET", `/v1/runs?threadId=${thread.threadId}`);
  assert.equal(runs[0].status, "interrupted");
  await done();
});

test("a run that was started elsewhere is seen as it goes", async () => {
  const thread = await makeThread("slow", "Begun elsewhere");
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  await page.getByRole("heading", { name: "Nothing was said yet" }).waitFor();
  const run = await server.ask("POST", "/v1/runs", { threadId: thread.threadId, text: "over there" });
  await page.locator(".event.live .markdown").waitFor();
  await server.ask("POST", `/v1/runs/${run.runId}/cancel`);
  await page.getByText("(stopped by user)").waitFor();
  await done();
});

test("a thread is forked at any message, and goes on by itself", async () => {
  const thread = await makeThread("quick", "To be forked");
  await appendEvents(server, thread.threadId, [
    { role: "user", text: "the first" },
    { role: "assistant", text: "the second" },
    { role: "user", text: "the third" },
  ]);
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  await page.getByText("the second").hover();
  await page.getByRole("button", { name: "Fork from event 2" }).click();
  await page.getByText(`fork of ${thread.threadId.slice(0, 6)} at 2`).waitFor();
  await page.getByText("the second").waitFor();
  assert.equal(await page.getByText("the third").count(), 0);
  await page.getByLabel("Message to quick").fill("another way");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".role-assistant").getByText("another way").waitFor();
  await done();
});

test("a tool call is folded, with its input and its result", async () => {
  const thread = await makeThread("quick", "With tools");
  const call = { tool_call_id: "call-1" };
  await appendEvents(server, thread.threadId, [
    { role: "user", text: "what is the weather?" },
    { type: "tool_use", name: "get_weather", input: { city: "Zürich" }, metadata: call },
    { type: "message", role: "tool", text: '{"celsius": 21}', metadata: { ...call, tool_name: "get_weather" } },
    { role: "assistant", text: "It is **warm**." },
    { type: "result", durationMs: 1234, inputTokens: 1500, outputTokens: 20, cost: 0.01 },
  ]);
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  const tool = page.locator("details.tool");
  await tool.waitFor();
  assert.equal(await tool.getAttribute("open"), null);
  assert.match(await tool.locator("summary").textContent(), /get_weather.*Zürich.*done/);
  assert.equal(await page.locator(".role-tool").count(), 0, "the result has no row of its own");
  await tool.locator("summary").click();
  await tool.getByText('"celsius": 21').waitFor();
  assert.equal(await page.locator("strong", { hasText: "warm" }).count(), 1);
  await page.getByText("1.2 s · 1.5K tokens in · 20 out · $0.01").waitFor();
  await done();
});

test("the context window is drawn: what is in, summarised and left out", async () => {
  const thread = await makeThread("quick", "A long one");
  const words = "Some words that take room in a window, over and over. ".repeat(20);
  const events = Array.from({ length: 120 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    text: `Message ${at + 1}. ${words}`,
  }));
  await appendEvents(server, thread.threadId, events);
  const { summary } = await server.ask("POST", `/v1/threads/${thread.threadId}/summaries`, { threshold: 20, keepRecent: 60 });
  assert.ok(summary);
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}`, viewport: { width: 1700, height: 900 } });
  await page.locator(".event .body", { hasText: "Message 120. " }).waitFor();

  await page.getByRole("button", { name: "Context window" }).click();
  const panel = page.getByRole("complementary", { name: "Context window" });
  await panel.getByText(/A model would see/).waitFor();
  await panel.getByText(/summarised: summary/).first().waitFor();
  await panel.getByLabel("Strategy").selectOption("recent");
  await panel.getByText(/left out: over the budget/).first().waitFor();
  await page.locator(".event.fate-in").first().waitFor();
  const sum = () => panel.locator(".window-sum strong").nth(1).textContent();
  const before = await sum();
  await panel.getByLabel(/tokens/).fill("6");
  await eventually(async () => (await sum()) !== before, "another window");
  await panel.getByRole("button", { name: "Close" }).click();

  await page.getByRole("region", { name: "Messages" }).focus();
  await page.keyboard.press("Home");
  const card = page.locator(".summary-card");
  await card.getByText(/stands for 60 events/).waitFor();
  const first = page.locator(".event .body", { hasText: "Message 1. " });
  assert.equal(await first.count(), 0, "what is summarised is folded");
  await card.getByRole("button", { name: "Show them" }).click();
  await first.waitFor();
  await done();
});

test("of 20,000 messages only those that are visible are in the page", async () => {
  const thread = await makeThread("quick", "Very long");
  const events = Array.from({ length: 20_000 }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", text: `Line ${at + 1}` }));
  await appendEvents(server, thread.threadId, events);
  const { page, done } = await openPage(server, { path: `#/thread/${thread.threadId}` });
  await page.getByText("Line 20000", { exact: true }).waitFor();
  const log = page.getByRole("region", { name: "Messages" });
  await log.focus();
  await page.keyboard.press("Home");
  await page.getByText("Line 1", { exact: true }).waitFor();
  await log.evaluate((box) => (box.scrollTop = box.scrollHeight / 2));
  await page.locator(".event .body").first().waitFor();
  assert.ok((await page.locator(".virtual-row").count()) < 120);
  await page.goto(`${server.url}/#/thread/${thread.threadId}/12345`);
  await page.locator(".event.marked").getByText("Line 12345", { exact: true }).waitFor();
  await done();
});

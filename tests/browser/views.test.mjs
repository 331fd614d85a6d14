import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { appendEvents, eventually, makeWorkspace, openPage, run, skein, startServer } from "./support.mjs";

const agents = { parrot: { engine: "echo", options: { costUsd: 0.25 } }, reviewer: { engine: "echo" } };
const workspace = makeWorkspace({ agents, config: { defaultAgent: "parrot" } });
const git = (...args) => run(workspace, "git", "-c", "user.name=Ana", "-c", "user.email=ana@example.org", ...args);
git("init", "-q", "-b", "main");
writeFileSync(join(workspace, "lexer.txt"), "tokens\n");
git("add", "lexer.txt");
git("commit", "-q", "-m", "Add the lexer");
const server = await startServer(workspace);

test("search finds what was said, in its context, and says how the score came about", async () => {
  // Not of the default agent.
  const thread = await server.ask("POST", "/v1/threads", { agentId: "reviewer", title: "Retries" });
  await appendEvents(server, thread.threadId, [
    { role: "user", text: "Shall we use exponential backoff when the upload fails?" },
    { role: "assistant", text: "Yes: three attempts, then report it." },
    { role: "user", text: "Agreed." },
  ]);
  await server.ask("POST", "/v1/backfill", {});
  const { page, done } = await openPage(server, { path: "#/search" });
  await page.getByRole("heading", { name: "Find again what was said" }).waitFor();
  await page.getByLabel("What to look for").fill("exponential backoff");
  await page.keyboard.press("Enter");
  const hit = page.locator(".hit");
  await hit.waitFor();
  await page.getByRole("status").getByText("messages of reviewer searched").waitFor();
  await page.getByLabel("Whose conversations").selectOption("echo");
  await page.getByText("Nothing was found").waitFor();
  await page.getByLabel("Whose conversations").selectOption("reviewer");
  await hit.locator(".match").getByText("exponential backoff").waitFor();
  await hit.getByText("three attempts").waitFor();
  await hit.getByText(/how it came about/).click();
  await hit.getByRole("rowheader", { name: "words" }).waitFor();
  await hit.getByRole("link", { name: "Retries" }).click();
  await page.locator(".event.marked").getByText("exponential backoff").waitFor();
  await done();
});

test("an item is made, shown by its vitality with its links, and resolved with a note", async () => {
  const thread = await server.ask("POST", "/v1/threads", { agentId: "parrot", title: "Where it began" });
  await server.ask("POST", "/v1/items", { text: "Decide on a name", thread: thread.threadId });
  const { page, done } = await openPage(server, { path: "#/items" });
  await page.getByRole("button", { name: "New" }).click();
  await page.getByLabel("What is open").fill("Write the docs");
  await page.getByRole("button", { name: "Create" }).click();
  const item = page.locator(".item", { hasText: "Decide on a name" });
  await item.waitFor();
  await page.locator(".item", { hasText: "Write the docs" }).waitFor();
  assert.match(await item.locator(".vitality").textContent(), /emerging|active/);
  await item.getByRole("link", { name: `thread ${thread.threadId.slice(0, 6)}` }).waitFor();
  await item.getByRole("button", { name: /^Resolve/ }).click();
  await page.getByLabel("Note").fill("It is called Skein");
  await page.getByRole("dialog").getByRole("button", { name: "Resolve" }).click();
  await eventually(async () => (await page.locator(".item").count()) === 1, "one item left");
  await page.getByRole("button", { name: /^resolved/ }).click();
  await page.getByText("It is called Skein").waitFor();
  await done();
});

test("checkpoints are a timeline with git's state, and with how far it moved", async () => {
  skein(workspace, "checkpoint", "lexer-done", "--summary", "The lexer works", "--next-step", "Write the parser");
  writeFileSync(join(workspace, "parser.txt"), "grammar\n");
  git("add", "parser.txt");
  git("commit", "-q", "-m", "Begin the parser");
  skein(workspace, "checkpoint", "parser-begun", "--summary", "The parser has a beginning");
  const { page, done } = await openPage(server, { path: "#/checkpoints" });
  await eventually(async () => (await page.locator(".checkpoint").count()) === 2, "two checkpoints");
  const older = page.locator(".checkpoint", { hasText: "lexer" });
  await older.getByRole("link").first().click();
  const details = page.locator(".checkpoint-details");
  await details.getByText("Write the parser").waitFor();
  await details.getByText("1 commit since").waitFor();
  await details.getByText("Begin the parser").waitFor();
  await details.getByText("Git then").waitFor();
  await done();
});

test("usage is plotted by day, split by agent and by model", async () => {
  await server.ask("POST", "/v1/runs?wait=true", { agentId: "parrot", text: "one two three" });
  await server.ask("POST", "/v1/runs?wait=true", { agentId: "echo", text: "four five" });
  const { page, done } = await openPage(server, { path: "#/usage" });
  const bars = page.locator(".plot .day rect:not(.catch)");
  await eventually(async () => (await bars.count()) === 2, "a bar for each agent");
  await page.locator(".plot-box .legend").getByText("parrot").waitFor();
  await page.getByRole("button", { name: "cost" }).click();
  await eventually(async () => (await bars.count()) === 1, "one that costs something");
  await page.getByRole("button", { name: "by model" }).click();
  await page.getByText("cost a day, by model").waitFor();
  await page.getByText("The figures").click();
  await page.getByRole("columnheader", { name: "Model" }).waitFor();
  await done();
});

test("what happens is seen live", async () => {
  const { page, done } = await openPage(server, { path: "#/live" });
  await page.locator(".connection.live").waitFor();
  const thread = await server.ask("POST", "/v1/threads", { agentId: "parrot", title: "Seen as it came" });
  await server.ask("POST", `/v1/threads/${thread.threadId}/messages`, { text: "a word in passing" });
  await page.locator(".activity-row", { hasText: "a word in passing" }).waitFor();
  await page.locator(".thread-created", { hasText: "Seen as it came" }).waitFor();
  await done();
});

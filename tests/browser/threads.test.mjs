import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, makeWorkspace, openPage, startServer } from "./support.mjs";

const server = await startServer(makeWorkspace({ agents: { parrot: { engine: "echo" } } }));
const rows = (page) => page.locator(".thread-row");

test("an empty server says what to do next", async () => {
  const { page, done } = await openPage(server);
  await page.getByRole("heading", { name: "No threads yet" }).waitFor();
  await page.getByText("skein run echo").waitFor();
  await done();
});

test("a thread is made with its first message, and the agent answers", async () => {
  const { page, done } = await openPage(server);
  await page.getByRole("button", { name: "New" }).click();
  const dialog = page.getByRole("dialog", { name: "New thread" });
  await dialog.getByLabel("Agent").fill("parrot");
  await dialog.getByLabel("Title").fill("Made in the browser");
  await dialog.getByLabel("First message").fill("Polly wants a cracker");
  await dialog.getByRole("button", { name: "Create and run" }).click();
  await page.getByRole("heading", { name: "Made in the browser" }).waitFor();
  const answer = page.locator(".role-assistant .body");
  await answer.waitFor();
  assert.equal(await answer.textContent(), "Polly wants a cracker");
  await done();
});

test("threads are filtered by text, agent, status and metadata, and what is new appears", async () => {
  for (const [title, agentId, metadata] of [
    ["Retry policy", "parrot", { team: "core" }],
    ["Release notes", "scribe", { team: "docs" }],
    ["Retry budget", "scribe", { team: "core", priority: 2 }],
  ]) {
    await server.ask("POST", "/v1/threads", { title, agentId, metadata });
  }
  const { page, done } = await openPage(server);
  await rows(page).nth(3).waitFor();
  const shown = (count) => eventually(async () => (await rows(page).count()) === count, `${count} rows`);

  await page.keyboard.press("/");
  await page.keyboard.type("retry");
  await shown(2);
  await page.getByLabel("Agent").fill("scribe");
  await shown(1);
  await page.getByText("Retry budget").waitFor();
  await page.getByLabel("Filter by title").fill("");
  await shown(2);
  await page.getByLabel("Metadata, as").fill("priority=2");
  await shown(1);
  await page.getByLabel("Metadata, as").fill("");
  await page.getByLabel("Agent").fill("");
  await shown(4);
  await page.getByRole("button", { name: /^closed/ }).click();
  await page.getByRole("heading", { name: "No thread matches" }).waitFor();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await shown(4);

  await server.ask("POST", "/v1/threads", { title: "Arrived meanwhile", agentId: "parrot" });
  await page.getByText("Arrived meanwhile").waitFor();
  await done();
});

test("the keyboard alone is enough: arrows, enter, escape", async () => {
  const { page, done } = await openPage(server);
  await rows(page).nth(3).waitFor();
  const selected = () => page.locator(".thread-row.selected .thread-row-title").textContent();
  const second = await rows(page).nth(1).locator(".thread-row-title").textContent();
  await page.keyboard.press("ArrowDown");
  await eventually(async () => (await selected()) === second, "the second is selected");
  await page.keyboard.press("Enter");
  await page.locator(".thread-head").getByRole("heading", { name: second }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Choose a thread" }).waitFor();
  assert.equal(await selected(), second);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await page.getByRole("heading", { name: "Work items" }).waitFor();
  await done();
});

test("the list goes on as one scrolls, and only what is visible is in the page", async () => {
  for (let at = 0; at < 300; at += 20) {
    const more = Array.from({ length: 20 }, (_, one) =>
      server.ask("POST", "/v1/threads", { title: `Bulk ${at + one}`, agentId: "bulk" }),
    );
    await Promise.all(more);
  }
  const { page, done } = await openPage(server);
  await page.getByLabel("Agent").fill("bulk");
  await page.getByText("300 threads").waitFor();
  await eventually(async () => (await rows(page).count()) > 5, "rows");
  const list = page.locator(".threads .virtual");
  await eventually(async () => {
    await list.evaluate((box) => (box.scrollTop = box.scrollHeight));
    return (await page.getByText("300 shown, that is all").count()) === 1;
  }, "the end of the list");
  assert.ok((await rows(page).count()) < 80, "only what is visible is in the page");
  await done();
});

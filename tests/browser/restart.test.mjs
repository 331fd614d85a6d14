import assert from "node:assert/strict";
import { test } from "node:test";
import { makeWorkspace, openPage, skein, startServer } from "./support.mjs";

// What the browser says of requests that meet no server.
const expected = [/Failed to load resource/, /net::ERR_/];

test("the page goes on by itself after the server was restarted", async () => {
  const workspace = makeWorkspace();
  const first = await startServer(workspace);
  const thread = await first.ask("POST", "/v1/threads", { agentId: "echo", title: "Through a restart" });
  const path = `/v1/threads/${thread.threadId}/messages`;
  await first.ask("POST", path, { text: "before it" });
  const { page, done } = await openPage(first, { path: `#/thread/${thread.threadId}`, expected });
  await page.getByText("before it").waitFor();
  await page.locator(".connection.live").waitFor();

  await first.stop("SIGKILL");
  await page.getByText("Reconnecting…").waitFor();
  skein(workspace, "thread", "append", thread.threadId, "--role", "assistant", "--text", "while it was away");
  const second = await startServer(workspace, { port: first.port });
  await page.getByText("while it was away").waitFor();
  await page.locator(".connection.live").waitFor();
  await second.ask("POST", path, { text: "after it" });
  await page.getByText("after it").waitFor();
  for (const text of ["before it", "while it was away", "after it"]) {
    assert.equal(await page.getByText(text, { exact: true }).count(), 1, `${text}: once`);
  }
  await done();
});

test("a page that was opened without a server shows its list when the server is there again", async () => {
  const workspace = makeWorkspace();
  const first = await startServer(workspace);
  await first.ask("POST", "/v1/items", { text: "Still open" });
  const { page, done } = await openPage(first, { path: "#/threads", expected });
  await page.getByRole("heading", { name: "No threads yet" }).waitFor();
  await first.stop();
  await page.getByText("Reconnecting…").waitFor();
  await page.keyboard.press("3");
  await page.getByText("The server cannot be reached.").waitFor();
  await startServer(workspace, { port: first.port });
  await page.getByText("Still open").waitFor();
  await done();
});

test("a server with keys is entered with one", async () => {
  const workspace = makeWorkspace();
  const made = JSON.parse(skein(workspace, "key", "create", "--access", "admin", "--json"));
  const server = await startServer(workspace);
  server.key = made.key;
  await server.ask("POST", "/v1/threads", { agentId: "echo", title: "Behind a key" });
  const { page, done } = await openPage(server, { expected: [/401/] });
  await page.getByRole("heading", { name: "This server needs a key" }).waitFor();
  await page.getByLabel("Key").fill("sk-wrong");
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByRole("heading", { name: "This server needs a key" }).waitFor();
  await page.getByLabel("Key").fill(made.key);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText("Behind a key").waitFor();
  await page.reload();
  await page.getByText("Behind a key").waitFor();
  await page.getByRole("button", { name: "Forget the key" }).click();
  await page.getByRole("heading", { name: "This server needs a key" }).waitFor();
  await done();
});

// node driver.mjs STEP PROGRAM FOLDER: drives the real server with the client in clients/typescript.
//
// The server's own description is held against it: the document is looked at by a validator of
// others, every answer is compared with what the document says, and the client's types with what it
// makes of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Server } from "./server.mjs";

const require = createRequire(import.meta.url);

const [step, program, folder] = process.argv.slice(2);
const clientFolder = fileURLToPath(new URL("../../../clients/typescript", import.meta.url));
const workspace = join(folder, "workspace");
mkdirSync(join(workspace, ".skein"), { recursive: true });
writeFileSync(
  join(workspace, ".skein", "config.json"),
  JSON.stringify({ defaultAgent: "helper", embedder: "none", agents: { helper: { engine: "echo" } } }),
);

async function documentOf(server) {
  return (await fetch(`${server.url}/openapi.json`)).json();
}

/** The client, compiled from its source. */
async function compiledClient() {
  const out = join(folder, "client");
  execFileSync(
    process.execPath,
    [require.resolve("typescript/bin/tsc"), "-p", clientFolder, "--outDir", out],
    { stdio: "inherit" },
  );
  writeFileSync(join(out, "package.json"), '{"type":"module"}');
  return import(pathToFileURL(join(out, "client.js")));
}

/** A fetch that compares each answer with the document, and counts the operations it saw. */
function watchedFetch(document, seen) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "skein", components: document.components });
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      fixed: path.replace(/\{\w+\}/g, "").length,
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
      operation,
    })),
  );
  routes.sort((a, b) => b.fixed - a.fixed);
  return async (url, init) => {
    const response = await fetch(url, init);
    const { pathname } = new URL(url);
    const route = routes.find((one) => one.method === init.method && one.pattern.test(pathname));
    assert.ok(route, `${init.method} ${pathname} is in the document`);
    seen.add(route.operation.operationId);
    const described = route.operation.responses[response.status];
    assert.ok(described, `${route.operation.operationId} may answer ${response.status}`);
    const type = response.headers.get("content-type")?.split(";")[0];
    if (response.status === 204 || type === "text/event-stream") return response;
    const schema = described.content[type]?.schema;
    assert.ok(schema, `${route.operation.operationId} answers ${response.status} with ${type}`);
    const text = JSON.stringify(schema).replaceAll('"#/components', '"skein#/components');
    const valid = ajv.validate(JSON.parse(text), await response.clone().json());
    assert.ok(valid, `${route.operation.operationId}: ${ajv.errorsText()}`);
    return response;
  };
}

/** On the same port, which another program may have for a moment. */
async function startAgain(port) {
  for (let attempt = 0; ; ++attempt) {
    try {
      return await Server.start(program, workspace, port);
    } catch (error) {
      if (attempt === 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

const steps = {
  async document(server) {
    const checked = await new Validator().validate(await documentOf(server));
    assert.ok(checked.valid, JSON.stringify(checked.errors, null, 1));
  },

  async types(server) {
    const file = join(folder, "openapi.json");
    writeFileSync(file, JSON.stringify(await documentOf(server)));
    execFileSync(process.execPath, [join(clientFolder, "generate.mjs"), file, "--check"], { stdio: "inherit" });
  },

  async client(server) {
    const { SkeinClient, SkeinError } = await compiledClient();
    const seen = new Set();
    const skein = new SkeinClient({ baseUrl: server.url, fetch: watchedFetch(await documentOf(server), seen) });

    const thread = await skein.createThread({ title: "Retries", metadata: { user_id: "u-1" } }, { idempotencyKey: "t" });
    const again = await skein.createThread({ title: "Retries", metadata: { user_id: "u-1" } }, { idempotencyKey: "t" });
    assert.equal(again.threadId, thread.threadId);
    const id = thread.threadId;
    await skein.addMessage(id, { text: "How often do we retry?" });
    await skein.appendEvent(id, { type: "tool_use", name: "look", input: { q: "retries" } });
    const { results } = await skein.appendEvents(id, { events: [{ role: "assistant", text: "Three times." }, { type: "?" }] });
    assert.equal(results[0].seq, 3);
    assert.equal(results[1].error.code, "invalid");
    assert.deepEqual((await skein.listEvents(id)).events.map((event) => event.seq), [1, 2, 3]);
    assert.deepEqual(
      (await skein.listMessages(id, { order: "desc", limit: 1 })).messages.map((one) => one.text),
      ["Three times."],
    );
    assert.equal((await skein.getContext(id, { strategy: "recent", maxTokens: 500 })).messages.length, 3);

    const updated = await skein.updateThread(id, { title: "Retry policy" }, { ifMatch: thread.etag });
    await assert.rejects(skein.updateThread(id, { title: "Late" }, { ifMatch: thread.etag }), (error) => {
      return error instanceof SkeinError && error.status === 412 && error.code === "precondition_failed";
    });
    assert.equal(updated.title, "Retry policy");
    const found = await skein.listThreads({ metadata: JSON.stringify({ user_id: "u-1" }), total: true });
    assert.deepEqual([found.total, found.threads[0].threadId], [1, id]);
    await assert.rejects(skein.getThread("../../etc/passwd"), (error) => error.status === 400);

    const run = await skein.startRun({ threadId: id, text: "Hello" });
    const kinds = new Set();
    for await (const event of skein.streamRun(run.runId)) kinds.add(event.event);
    assert.ok(kinds.has("status") && kinds.has("event"));
    assert.equal((await skein.waitForRun(run.runId)).status, "success");
    assert.ok((await skein.listRuns({ threadId: id })).runs.length === 1);
    assert.ok((await skein.getUsage({ by: "agent" })).rows.length <= 1);

    await skein.backfill();
    assert.equal((await skein.search({ q: "retry", by: "words" })).results[0].threadId, id);
    const item = await skein.createItem({ text: "Write the policy down", thread: id });
    assert.equal((await skein.resolveItem(item.id, { resolution_note: "Done" })).status, "resolved");
    await skein.startSession({ agent: "helper" });
    const checkpoint = await skein.createCheckpoint({ title: "Policy", summary: "Written" });
    assert.ok((await skein.resumeCheckpoint(checkpoint.thread_id)).prompt.includes("Written"));
    const task = await skein.createTask({ agentId: "helper", text: "Tell everybody" });
    assert.equal((await skein.getTask(task.id)).status, "open");
    const trigger = await skein.addTrigger({ agentId: "helper", cron: "@daily", text: "Remind" });
    await skein.removeTrigger(trigger.id);
    assert.ok((await skein.listAgents()).agents.some((agent) => agent.id === "helper"));
    const fork = await skein.forkThread(id, { seq: 2 });
    await skein.setThreadStatus(fork.threadId, { status: "closed", summary: "Enough" });
    await skein.deleteThread(fork.threadId);
    assert.ok(seen.size > 25, `${seen.size} operations were seen`);
  },

  async restart(server) {
    const { SkeinClient } = await compiledClient();
    const skein = new SkeinClient({ baseUrl: server.url, reconnects: 200 });
    const { threadId } = await skein.createThread({});
    const count = 30;
    const read = async (stream, wanted, of) => {
      const all = [];
      for await (const event of stream) {
        all.push(of(event));
        if (all.length === wanted) break;
      }
      return all;
    };
    const texts = read(skein.streamEvents(threadId), count, (event) => event.data.text);
    const changes = read(
      skein.streamChanges({ since: "", threadId, event: ["thread:message"] }),
      count,
      (event) => event.data.message.text,
    );
    let current = server;
    for (let i = 0; i < count; ++i) {
      if (i === 10 || i === 20) {
        await current.stop();
        current = await startAgain(server.port);
      }
      await skein.addMessage(threadId, { text: `m${i}` }, { idempotencyKey: `k${i}` });
    }
    const wanted = Array.from({ length: count }, (_, i) => `m${i}`);
    assert.deepEqual(await texts, wanted);
    assert.deepEqual(await changes, wanted);
    server.child = current.child;
    server.exited = current.exited;
  },
};

const server = await Server.start(program, workspace);
try {
  await steps[step](server);
} finally {
  await server.stop();
}

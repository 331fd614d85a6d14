// The suite is written for vitest's globals. What it uses of them, Node's runner has by other names.
import { registerHooks } from "node:module";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { format } from "node:util";
import { expect } from "expect";

// The saver stands outside of this folder, and finds its packages here.
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith("@langchain/")) return next(specifier, context);
    return next(specifier, { ...context, parentURL: import.meta.url });
  },
});

function each(define) {
  return (rows) => (name, body) => {
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      const named = name.replace(/\$(\w+)/g, (_, member) => row[member]);
      define(named === name ? format(name, ...values) : named, () => body(...values));
    }
  };
}
const plain = (define) => (name, body) => define(name, () => body());

Object.assign(globalThis, {
  describe: Object.assign(plain(describe), { each: each(describe) }),
  it: Object.assign(plain(it), { each: each(it), skip: (name, body) => it.skip(name, body) }),
  expect: Object.assign((value) => expect(value), expect, { soft: expect }),
  beforeAll: (body) => before(body),
  afterAll: (body) => after(body),
  beforeEach: (body) => beforeEach(body),
  afterEach: (body) => afterEach(body),
});

const { SkeinSaver } = await import("../../../clients/langgraph-saver/saver.mjs");
const { validate } = await import("@langchain/langgraph-checkpoint-validation");
if (!process.env.SKEIN_URL) throw new Error("SKEIN_URL names no server");
validate({
  checkpointerName: "skein",
  createCheckpointer: () => new SkeinSaver({ url: process.env.SKEIN_URL }),
  // Each part of the suite begins with none.
  async destroyCheckpointer(saver) {
    const threads = new Set();
    for await (const { config } of saver.list({})) threads.add(config.configurable.thread_id);
    for (const thread of threads) await saver.deleteThread(thread);
  },
});

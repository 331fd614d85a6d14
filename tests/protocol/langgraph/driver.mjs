// driver.mjs URL: calls every group of methods of the LangGraph SDK on the server at URL, and
// prints a line of JSON for each call. The server has the agents `echo` and `slow`.
import { Recorder } from "./recorder.mjs";

const recorder = new Recorder(process.argv[2]);
const call = recorder.call.bind(recorder);
const stream = recorder.stream.bind(recorder);

const NOBODY = "11111111-1111-4111-8111-111111111111";
const said = (text) => ({ messages: [{ role: "user", content: text }] });
// Compared as it is.
const fact = (value) => ({ text: String(value) });
const order = (seen) => ({
  events: fact(seen.map((frame) => frame.event).join(" ")),
  ids: fact(seen.map((frame) => frame.id).join(" ")),
});
// More than anybody waits for; it is cancelled.
const LONG = "and so on ".repeat(100);

async function meta() {
  await call("ok", async () => (await fetch(recorder.apiUrl + "/ok")).json());
  await call("info", async () => {
    const info = await (await fetch(recorder.apiUrl + "/info")).json();
    return { version: info.version, flags: info.flags };
  });
}

async function assistants() {
  await call("assistants.search", (c) => c.assistants.search({ graphId: "echo" }));
  await call("assistants.search with pages", (c) =>
    c.assistants.search({ graphId: "echo", limit: 1, includePagination: true }));
  await call("assistants.search for none", (c) => c.assistants.search({ graphId: "nothing" }));
  await call("assistants.count", (c) => c.assistants.count({ graphId: "echo" }));
  const echo = await call("assistants.get", (c) => c.assistants.get("echo"));
  await call("assistants.get by id", (c) => c.assistants.get(echo.assistant_id));
  await call("assistants.get of nobody", (c) => c.assistants.get(NOBODY));
  await call("assistants.getGraph", (c) => c.assistants.getGraph("echo"), (graph) => ({
    nodes: graph.nodes.map((node) => ({ id: node.id, type: node.type })),
    edges: graph.edges,
  }));
  await call("assistants.getSchemas", (c) => c.assistants.getSchemas("echo"), (schemas) =>
    fact(Object.keys(schemas).sort()));
  await call("assistants.getSubgraphs", (c) => c.assistants.getSubgraphs("echo"));
  await call("assistants.getVersions", (c) => c.assistants.getVersions("echo"));
}

async function threads() {
  const made = await call("threads.create", (c) =>
    c.threads.create({ metadata: { topic: "driver", number: 7 }, graphId: "echo" }));
  const id = made.thread_id;
  const chosen = crypto.randomUUID();
  await call("threads.create with an id", (c) => c.threads.create({ threadId: chosen }));
  await call("threads.create again", (c) => c.threads.create({ threadId: chosen }));
  await call("threads.create again, if_exists do_nothing", (c) =>
    c.threads.create({ threadId: chosen, ifExists: "do_nothing" }), (thread) => ({
      ...thread, same: fact(thread.thread_id === chosen) }));
  await call("threads.create with a bad id", (c) => c.threads.create({ threadId: "x" }));
  await call("threads.create with supersteps", (c) => c.threads.create({
    graphId: "echo",
    supersteps: [{ updates: [{ values: said("imported"), asNode: "agent" }] }],
  }));
  await call("threads.get", (c) => c.threads.get(id), (thread) => ({
    ...thread, kept: fact(`${thread.metadata.topic} ${thread.metadata.number}`) }));
  await call("threads.get of nobody", (c) => c.threads.get(NOBODY));
  await call("threads.get of a bad id", (c) => c.threads.get("x"));
  await call("threads.update", (c) => c.threads.update(id, { metadata: { more: true } }),
    (thread) => ({ ...thread, kept: fact(`${thread.metadata.topic} ${thread.metadata.more}`) }));
  await call("threads.update of nobody", (c) => c.threads.update(NOBODY, { metadata: {} }));
  await call("threads.search", (c) => c.threads.search({ metadata: { topic: "driver" } }));
  await call("threads.search for none", (c) => c.threads.search({ metadata: { topic: "none" } }));
  await call("threads.search by status", (c) =>
    c.threads.search({ metadata: { topic: "driver" }, status: "idle" }));
  await call("threads.search by another status", (c) =>
    c.threads.search({ metadata: { topic: "driver" }, status: "error" }));
  await call("threads.search with select", (c) =>
    c.threads.search({ ids: [id], select: ["thread_id", "status"] }));
  await call("threads.search with no ids", (c) =>
    c.threads.search({ metadata: { topic: "driver" }, ids: [] }));
  await call("threads.search in order", (c) =>
    c.threads.search({ metadata: { topic: "driver" }, sortBy: "updated_at", sortOrder: "asc" }));
  await call("threads.search beyond the limit", (c) => c.threads.search({ limit: 5000 }));
  await call("threads.count", (c) => c.threads.count({ metadata: { topic: "driver" } }));
  return { id, chosen };
}

async function states(id) {
  await call("threads.getState of a new thread", (c) => c.threads.getState(id));
  await call("threads.getHistory of a new thread", (c) => c.threads.getHistory(id));
  const first = await call("threads.updateState", (c) =>
    c.threads.updateState(id, { values: said("first"), asNode: "agent" }));
  await call("threads.updateState again", (c) =>
    c.threads.updateState(id, { values: said("second"), asNode: "agent" }));
  await call("threads.getState", (c) => c.threads.getState(id));
  await call("threads.getState of a checkpoint", (c) =>
    c.threads.getState(id, first.checkpoint.checkpoint_id));
  await call("threads.getState of a checkpoint as an object", (c) =>
    c.threads.getState(id, first.checkpoint));
  await call("threads.getHistory", (c) => c.threads.getHistory(id, { limit: 1 }));
  await call("threads.getHistory before a checkpoint", async (c) => {
    const [newest] = await c.threads.getHistory(id, { limit: 1 });
    return c.threads.getHistory(id, { limit: 1, before: newest.checkpoint.checkpoint_id });
  }, (found) => found[0].values.messages.map((message) => fact(message.content)));
  await call("threads.updateState at a checkpoint", (c) =>
    c.threads.updateState(id, {
      values: said("instead"), checkpointId: first.checkpoint.checkpoint_id, asNode: "agent" }));
  await call("what it left on the path", (c) => c.threads.getState(id), (state) =>
    fact(state.values.messages.map((message) => message.content)));
  await call("threads.updateState of nobody", (c) =>
    c.threads.updateState(NOBODY, { values: said("x") }));
  await call("threads.getState of nobody", (c) => c.threads.getState(NOBODY));
  await call("threads.getHistory of nobody", (c) => c.threads.getHistory(NOBODY));
  await call("threads.copy", (c) => c.threads.copy(id));
  await call("threads.copy of nobody", (c) => c.threads.copy(NOBODY));
  await call("threads.prune", (c) => c.threads.prune([NOBODY]));
  await call("threads.patchState", (c) => c.threads.patchState(id, { more: true }));
  await call("threads.joinStream", async (c) => {
    for await (const frame of c.threads.joinStream(id)) return frame;
  });
}

async function runs(id) {
  await call("runs.wait", (c) => c.runs.wait(id, "echo", { input: said("hello there") }),
    (values) => ({
    last: values.messages.slice(-2),
    order: fact(values.messages.slice(-2).map((message) => message.type)),
  }));
  await call("runs.wait with an unknown assistant", (c) =>
    c.runs.wait(id, "nobody", { input: said("x") }));
  await call("runs.wait on no thread that is", (c) =>
    c.runs.wait(NOBODY, "nobody", { input: said("x") }));
  await call("runs.wait that fails", (c) => c.runs.wait(id, "echo", {
    input: said("/fail on purpose"), raiseError: false }));
  await call("threads.get after a failure", (c) => c.threads.get(id), (thread) => ({
    status: thread.status }));
  await call("runs.wait on a thread to be made", (c) => c.runs.wait(crypto.randomUUID(), "echo", {
    input: said("made"), ifNotExists: "create" }));
  const made = await call("runs.create", (c) => c.runs.create(id, "echo", {
    input: said("created"), metadata: { why: "driver" } }));
  await call("runs.join", (c) => c.runs.join(id, made.run_id), (values) => fact(Object.keys(values)));
  await call("runs.get", (c) => c.runs.get(id, made.run_id));
  await call("runs.get of nobody", (c) => c.runs.get(id, NOBODY));
  await call("runs.list", (c) => c.runs.list(id, { limit: 1 }));
  await call("runs.list by status", (c) => c.runs.list(id, { status: "timeout" }));
  await call("runs.list of nobody", (c) => c.runs.list(NOBODY));
  await call("runs.delete", (c) => c.runs.delete(id, made.run_id));
  await call("runs.delete again", (c) => c.runs.delete(id, made.run_id));
  await call("runs.createBatch", (c) => c.runs.createBatch([
    { assistantId: "echo", input: said("a") }, { assistantId: "echo", input: said("b") }]));
}

async function streams(id) {
  await stream("runs.stream", (c) => c.runs.stream(id, "echo", { input: said("in values") }), {
    view: order });
  await stream("runs.stream of updates", (c) => c.runs.stream(id, "echo", {
    input: said("in updates"), streamMode: "updates" }));
  await stream("runs.stream of message pieces", (c) => c.runs.stream(id, "echo", {
    input: said("piece by piece"), streamMode: "messages-tuple" }), {
    view: (seen) => ({
      kinds: fact([...new Set(seen.map((frame) => frame.event))]),
      first: { ...seen.find((frame) => frame.event === "messages").data[0], content: "some of it" },
      node: seen.find((frame) => frame.event === "messages").data[1].langgraph_node,
      whole: { text: seen.filter((frame) => frame.event === "messages")
        .map((frame) => frame.data[0].content).join("") },
    }) });
  await stream("runs.stream of messages", (c) => c.runs.stream(id, "echo", {
    input: said("growing message"), streamMode: "messages" }), {
    view: (seen) => ({
      kinds: fact([...new Set(seen.map((frame) => frame.event))]),
      partial: seen.findLast((frame) => frame.event === "messages/partial").data,
      complete: seen.findLast((frame) => frame.event === "messages/complete").data,
    }) });
  await stream("runs.stream that fails", (c) => c.runs.stream(id, "echo", {
    input: said("/fail on purpose") }));
  await stream("runs.stream with an unknown assistant", (c) =>
    c.runs.stream(id, "nobody", { input: said("x") }));
  const { thread_id: slow } = await recorder.client.threads.create({ graphId: "slow" });
  let created;
  await stream("runs.stream that can be resumed", (c) => c.runs.stream(slow, "slow", {
    input: said("slowly now"), streamResumable: true, streamMode: ["values", "updates"],
    onRunCreated: (run) => { created = run; } }));
  await call("onRunCreated", async () => created);
  await stream("runs.joinStream from the beginning", (c) =>
    c.runs.joinStream(slow, created.run_id, { lastEventId: "-1" }), {
    view: order });
  await stream("runs.joinStream from the middle", (c) =>
    c.runs.joinStream(slow, created.run_id, { lastEventId: "1" }), {
    view: order });
}

async function cancelling() {
  const { thread_id: id } = await recorder.client.threads.create({ graphId: "slow" });
  const busy = await call("runs.create that takes long", (c) => c.runs.create(id, "slow", {
    input: said(LONG) }));
  await call("threads.get while busy", (c) => c.threads.get(id), (thread) => ({
    status: thread.status }));
  await call("threads.search for busy ones", (c) => c.threads.search({
    ids: [id], status: "busy", select: ["thread_id", "status"] }));
  await call("runs.create on a busy thread", (c) => c.runs.create(id, "slow", {
    input: said("rejected"), multitaskStrategy: "reject" }));
  await call("threads.updateState while busy", (c) =>
    c.threads.updateState(id, { values: said("x") }));
  const enqueued = await call("runs.create that is enqueued", (c) => c.runs.create(id, "slow", {
    input: said("waits"), multitaskStrategy: "enqueue" }));
  await call("runs.cancel", (c) => c.runs.cancel(id, busy.run_id, true));
  await call("runs.get after a cancel", (c) => c.runs.get(id, busy.run_id), (run) => ({
    status: run.status }));
  await call("runs.cancel of nobody", (c) => c.runs.cancel(id, NOBODY));
  await call("runs.cancel without waiting", (c) => c.runs.cancel(id, enqueued.run_id));
}

// What is to be done next, and what a cancelled run leaves.
async function unfinished() {
  const { thread_id: id } = await recorder.client.threads.create({ graphId: "slow" });
  const left = (state) => ({ next: state.next, tasks: state.tasks });
  const texts = (state) => fact(state.values.messages.map((message) => message.content));
  const done = await recorder.client.runs.create(id, "slow", { input: said("done") });
  await recorder.client.runs.join(id, done.run_id);
  await call("threads.getState after a run", (c) => c.threads.getState(id), left);
  await call("runs.cancel of one that has ended", (c) =>
    c.runs.cancel(id, done.run_id, true, "rollback"));
  await call("runs.get of one that has ended", (c) => c.runs.get(id, done.run_id), (run) => ({
    status: run.status }));
  await call("what it wrote", (c) => c.threads.getState(id), texts);
  const busy = await recorder.client.runs.create(id, "slow", { input: said(LONG) });
  for (let count = 0; count < 3;) {
    count = (await recorder.client.threads.getState(id)).values.messages.length;
  }
  await call("threads.getState while busy", (c) => c.threads.getState(id), left);
  await call("threads.getHistory while busy", (c) => c.threads.getHistory(id, { limit: 1 }),
    (states) => states.map(left));
  await recorder.client.runs.cancel(id, busy.run_id, true);
  await call("threads.getState after a cancel", (c) => c.threads.getState(id), left);
  await recorder.client.runs.wait(id, "slow", {
    input: said("/fail on purpose"), raiseError: false });
  await call("threads.getState after a failure", (c) => c.threads.getState(id), (state) => ({
    next: state.next, tasks: state.tasks.map((task) => task.name) }));
}

// More that the SDK can do, and its users do.
async function edits() {
  const { thread_id: id } = await recorder.client.threads.create({ graphId: "echo" });
  const texts = (state) => fact(state.values.messages.map((message) => message.content));
  const message = (number, content) => ({ type: "human", id: `m${number}`, content });
  await call("messages with ids", (c) => c.threads.updateState(id, {
    values: { messages: [message(1, "one"), message(2, "two"), message(3, "three")] },
    asNode: "agent" }));
  await call("a message that replaces another", async (c) => {
    await c.threads.updateState(id, { values: { messages: [message(2, "zwei")] }, asNode: "agent" });
    return c.threads.getState(id);
  }, texts);
  await call("a message that removes another", async (c) => {
    await c.threads.updateState(id, {
      values: { messages: [{ type: "remove", id: "m1" }] }, asNode: "agent" });
    return c.threads.getState(id);
  }, texts);
  await call("a run whose input is there already", (c) => c.runs.wait(id, "echo", {
    input: { messages: [message(2, "zwei"), message(3, "three"), message(4, "four")] } }),
    (values) => texts({ values }));
  await call("a run from a checkpoint", async (c) => {
    const history = await c.threads.getHistory(id, { limit: 20 });
    const then = history.find((state) => state.values.messages.at(-1).id === "m3");
    return c.runs.wait(id, "echo", {
      input: { messages: [message(5, "five")] },
      checkpoint: { checkpoint_id: then.checkpoint.checkpoint_id, checkpoint_ns: "" } });
  }, (values) => texts({ values }));
  await call("calls of tools", (c) => c.threads.updateState(id, {
    values: { messages: [
      { type: "ai", id: "a1", content: "Looking.",
        tool_calls: [{ id: "c1", name: "look", args: { at: "it" }, type: "tool_call" }] },
      { type: "tool", id: "t1", content: "seen", tool_call_id: "c1", name: "look" },
    ] }, asNode: "agent" }));
  await call("what became of the calls", (c) => c.threads.getState(id), (state) =>
    state.values.messages.slice(-2));
  await call("contents in blocks", (c) => c.runs.wait(id, "echo", {
    input: { messages: [{ type: "human", content: [{ type: "text", text: "in blocks" }] }] } }),
    (values) => values.messages.slice(-2, -1));
}

async function stateless() {
  await call("runs.wait without a thread", (c) => c.runs.wait(null, "echo", {
    input: said("alone") }));
  await call("runs.create without a thread", (c) => c.runs.create(null, "echo", {
    input: said("alone") }));
  await stream("runs.stream without a thread", (c) => c.runs.stream(null, "echo", {
    input: said("alone") }));
}

async function store() {
  await call("store.putItem", (c) => c.store.putItem(["driver", "a"], "one", { size: 1 }));
  await call("store.putItem again", (c) => c.store.putItem(["driver", "a"], "one", { size: 2 }));
  await call("store.putItem beside it", (c) => c.store.putItem(["driver", "b"], "two", { size: 2 }));
  await call("store.getItem", (c) => c.store.getItem(["driver", "a"], "one"));
  await call("store.getItem of none", (c) => c.store.getItem(["driver", "a"], "none"));
  await call("store.searchItems", (c) => c.store.searchItems(["driver"]),
    (found) => ({ ...found, keys: fact(found.items.map((item) => item.key).sort()) }));
  await call("store.searchItems with a filter", (c) =>
    c.store.searchItems(["driver"], { filter: { size: 2 }, limit: 1 }));
  await call("store.searchItems with a query", (c) =>
    c.store.searchItems(["driver"], { query: "whatever" }),
    (found) => fact(found.items.map((item) => item.key).sort()));
  await call("store.listNamespaces", (c) => c.store.listNamespaces({ prefix: ["driver"] }),
    (found) => fact(JSON.stringify(found.namespaces.sort())));
  await call("store.listNamespaces by depth", (c) =>
    c.store.listNamespaces({ prefix: ["driver"], maxDepth: 1 }),
    (found) => fact(JSON.stringify(found.namespaces)));
  await call("store.deleteItem", (c) => c.store.deleteItem(["driver", "a"], "one"));
  await call("store.deleteItem of none", (c) => c.store.deleteItem(["driver", "a"], "one"));
  await call("store.putItem in no namespace", (c) => c.store.putItem([], "one", { size: 1 }));
}

async function crons() {
  const cron = await call("crons.create", (c) => c.crons.create("echo", {
    schedule: "0 3 * * *", input: said("good morning") }));
  await call("crons.search", (c) => c.crons.search({ limit: 1 }));
  await call("crons.count", (c) => c.crons.count());
  await call("crons.delete", (c) => c.crons.delete(cron?.cron_id ?? NOBODY));
}

async function protocol() {
  const { thread_id: id } = await call("a thread for commands", (c) =>
    c.threads.create({ graphId: "echo" }));
  const send = async (command) => {
    const response = await fetch(`${recorder.apiUrl}/threads/${id}/commands`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(command),
    });
    return { status: response.status, body: await response.json() };
  };
  await call("command of an unknown method before a run", () =>
    send({ id: 1, method: "nothing", params: {} }));
  await call("command run.start without an assistant", () =>
    send({ id: 2, method: "run.start", params: {} }));
  await call("command state.get", () => send({ id: 3, method: "state.get", params: {} }));
  await call("threads.stream", async (c) => {
    const thread = c.threads.stream(id, { assistantId: "echo" });
    const texts = [];
    const read = (async () => {
      for await (const message of thread.messages) texts.push({ text: await message.text });
    })();
    const started = await thread.run.start({ input: said("through the protocol") });
    await read;
    const output = await thread.output;
    await thread.close();
    return { started, texts, output: output.messages.map((message) => ({
      type: message.getType(), content: message.content })) };
  });
  await call("command state.get after a run", () =>
    send({ id: 4, method: "state.get", params: {} }));
  await call("command run.start", () =>
    send({ id: 5, method: "run.start", params: { assistant_id: "echo", input: said("again") } }));
  await call("events of both runs", () => events(id, 2));
  await call("command input.respond without a question", () =>
    send({ id: 6, method: "input.respond", params: { interrupt_id: "x", response: true } }));
}

// The events of a thread, until so many runs have ended.
async function events(id, ends) {
  const gone = new AbortController();
  const response = await fetch(`${recorder.apiUrl}/threads/${id}/stream/events`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ channels: ["lifecycle", "values", "updates", "messages"] }),
    signal: gone.signal,
  });
  const seen = [];
  let text = "";
  for await (const bytes of response.body) {
    text += Buffer.from(bytes).toString();
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) seen.push(JSON.parse(data.slice(6)));
    }
    const over = seen.filter((event) => event.method === "lifecycle" &&
      event.params.namespace.length === 0 && event.params.data.event === "completed");
    if (over.length >= ends) break;
  }
  gone.abort();
  const own = seen.filter((event) => event.params.namespace.length === 0);
  return {
    grows: fact(seen.every((event, i) => i === 0 || event.seq > seen[i - 1].seq)),
    order: fact(own.filter((event) => event.method === "lifecycle")
      .map((event) => event.params.data.event)),
    lifecycle: own.filter((event) => event.method === "lifecycle"),
    values: own.findLast((event) => event.method === "values"),
    updates: own.findLast((event) => event.method === "updates"),
    messages: fact([...new Set(seen.filter((event) => event.method === "messages")
      .map((event) => event.params.data.event))]),
  };
}

async function removing({ id, chosen }) {
  await call("threads.delete", (c) => c.threads.delete(id));
  await call("threads.delete again", (c) => c.threads.delete(id));
  await call("threads.delete of another", (c) => c.threads.delete(chosen));
}

await meta();
await assistants();
const made = await threads();
await states(made.id);
await runs(made.id);
await streams(made.id);
await cancelling();
await unfinished();
await edits();
await stateless();
await store();
await crons();
await protocol();
await removing(made);
for (const line of recorder.lines) console.log(JSON.stringify(line));
process.exit(0);

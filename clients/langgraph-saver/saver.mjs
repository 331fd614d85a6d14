// Keeps the checkpoints of LangGraph.js graphs in Skein:
//
//   const checkpointer = new SkeinSaver({ url: "http://127.0.0.1:7171", apiKey });
//   const graph = builder.compile({ checkpointer });
//
// Checkpoints and writes are blobs to the server. It looks only at the plain copy of a checkpoint's
// metadata, which list() filters by.
import {
  BaseCheckpointSaver,
  TASKS,
  WRITES_IDX_MAP,
  copyCheckpoint,
  maxChannelVersion,
} from "@langchain/langgraph-checkpoint";

export class SkeinSaver extends BaseCheckpointSaver {
  #url;
  #headers;

  constructor({ url = "http://127.0.0.1:7171", apiKey, serde } = {}) {
    super(serde);
    this.#url = url.replace(/\/$/, "");
    this.#headers = { "content-type": "application/json" };
    if (apiKey) this.#headers["x-api-key"] = apiKey;
  }

  async getTuple(config) {
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
    if (!thread_id) return undefined;
    const saved = await this.#ask("get", { thread_id, checkpoint_ns, checkpoint_id });
    return saved ? this.#tuple(saved) : undefined;
  }

  async *list(config, { limit, before, filter } = {}) {
    const { thread_id, checkpoint_ns } = config.configurable ?? {};
    const wanted = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined);
    let left = limit ?? Infinity;
    let older = before?.configurable?.checkpoint_id;
    while (left > 0) {
      const page = Math.min(left, PAGE);
      const found = await this.#ask("list", {
        thread_id,
        checkpoint_ns,
        before: older,
        limit: page,
        filter: Object.fromEntries(wanted),
      });
      for (const saved of found) yield await this.#tuple(saved);
      if (found.length < page) return;
      left -= found.length;
      older = found.at(-1).checkpoint_id;
    }
  }

  async put(config, checkpoint, metadata) {
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
    if (!thread_id) throw new Error('Missing "thread_id" field in passed "config.configurable".');
    await this.#ask("put", {
      thread_id,
      checkpoint_ns,
      checkpoint_id: checkpoint.id,
      parent_checkpoint_id: checkpoint_id,
      checkpoint: {
        ...(await this.#dump(copyCheckpoint(checkpoint))),
        metadata: await this.#dump(metadata),
      },
      metadata: JSON.parse(JSON.stringify(metadata ?? {})),
    });
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config, writes, taskId) {
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable ?? {};
    if (!thread_id) throw new Error("Missing thread_id field in config.configurable.");
    if (!checkpoint_id) throw new Error("Missing checkpoint_id field in config.configurable.");
    const dumped = writes.map(async ([channel, value], index) => ({
      index: WRITES_IDX_MAP[channel] ?? index,
      channel,
      value: await this.#dump(value),
    }));
    await this.#ask("writes", {
      thread_id,
      checkpoint_ns,
      checkpoint_id,
      task_id: taskId,
      writes: await Promise.all(dumped),
    });
  }

  async deleteThread(threadId) {
    await this.#ask("delete", { thread_id: threadId });
  }

  async #tuple(saved) {
    const { thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id } = saved;
    const at = (id) => ({ configurable: { thread_id, checkpoint_ns, checkpoint_id: id } });
    const checkpoint = await this.#load(saved.checkpoint);
    if (checkpoint.v < 4 && parent_checkpoint_id) {
      await this.#takeSends(checkpoint, { thread_id, checkpoint_ns, parent_checkpoint_id });
    }
    const writes = saved.writes.map(async ({ task_id, channel, value }) => [
      task_id,
      channel,
      await this.#load(value),
    ]);
    return {
      config: at(checkpoint_id),
      checkpoint,
      metadata: await this.#load(saved.checkpoint.metadata),
      parentConfig: parent_checkpoint_id ? at(parent_checkpoint_id) : undefined,
      pendingWrites: await Promise.all(writes),
    };
  }

  // Graphs before version 4 kept what is sent to nodes in the writes of the checkpoint before.
  async #takeSends(checkpoint, { thread_id, checkpoint_ns, parent_checkpoint_id }) {
    const parent = await this.#ask("get", {
      thread_id,
      checkpoint_ns,
      checkpoint_id: parent_checkpoint_id,
    });
    const sends = (parent?.writes ?? []).filter(({ channel }) => channel === TASKS);
    checkpoint.channel_values ??= {};
    checkpoint.channel_values[TASKS] = await Promise.all(sends.map(({ value }) => this.#load(value)));
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #dump(value) {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, data: Buffer.from(bytes).toString("base64") };
  }

  async #load({ type, data }) {
    return this.serde.loadsTyped(type, new Uint8Array(Buffer.from(data, "base64")));
  }

  async #ask(what, body) {
    const response = await fetch(`${this.#url}/saver/${what}`, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }
}

const PAGE = 100;

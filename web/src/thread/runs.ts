// Runs on one thread: which one is under way, and the text that it has not written down yet.
import { client } from "../lib/api";
import { openStream } from "../lib/stream";
import type { Run, ThreadEvent } from "../lib/types";

export class RunFollower {
  current: Run | undefined; // under way, or the last one if it asks a question
  text = "";
  thinking = "";
  private readonly ended = new Set<string>();
  private following: { id: string; stop: () => void } | undefined;
  private stopped = false;

  constructor(
    private readonly threadId: string,
    private readonly changed: () => void,
  ) {}

  get busy(): boolean {
    return this.current?.status === "running" || this.current?.status === "pending";
  }

  // Whether something is under way that was begun elsewhere.
  async look(): Promise<void> {
    try {
      const { runs } = await client.listRuns({ threadId: this.threadId, limit: 10 });
      if (this.stopped) return;
      const running = runs.find((run) => run.status === "running") ?? runs.find((run) => run.status === "pending");
      const asks = runs[0]?.question ? runs[0] : undefined;
      const found = running ?? asks;
      if (found) this.follow(found);
      else if (this.current) this.end();
    } catch {
      // The thread itself says what is wrong.
    }
  }

  // An event of a run that nobody told us of.
  saw(event: ThreadEvent): void {
    const id = event.metadata?.["runId"];
    if (typeof id !== "string" || this.ended.has(id) || this.following?.id === id) return;
    void this.look();
  }

  follow(run: Run): void {
    this.current = run;
    this.changed();
    if (this.following?.id === run.runId) return;
    this.leave();
    if (!this.busy) return;
    const id = run.runId;
    const stop = openStream({
      open: (stream, options) => stream.streamRun(id, options),
      onOpen: () => this.clear(),
      onEvent: ({ event, data }) => {
        if (event === "status") this.status(data as Run);
        else if (event === "text") this.text += (data as { text: string }).text;
        else if (event === "thinking") this.thinking += (data as { text: string }).text;
        // What is an event now is shown as one.
        else if (event === "event") this.clear();
        this.changed();
      },
      onEnd: () => void this.settle(id),
      onRefused: () => this.end(),
    });
    this.following = { id, stop };
  }

  private status(run: Run): void {
    this.current = run;
    if (!this.busy) {
      this.ended.add(run.runId);
      this.clear();
    }
  }

  private async settle(id: string): Promise<void> {
    this.ended.add(id);
    this.leave();
    if (!this.current?.question) this.current = undefined;
    this.clear();
    this.changed();
    // The next one in the queue.
    await this.look();
  }

  private clear(): void {
    this.text = "";
    this.thinking = "";
  }

  private end(): void {
    this.leave();
    this.current = undefined;
    this.clear();
    this.changed();
  }

  private leave(): void {
    this.following?.stop();
    this.following = undefined;
  }

  stop(): void {
    this.stopped = true;
    this.leave();
  }

  async begin(text: string): Promise<void> {
    // It is not waited for, and so no outcome.
    this.follow((await client.startRun({ threadId: this.threadId, ...(text ? { text } : {}) })) as Run);
  }

  async cancel(): Promise<void> {
    if (!this.current) return;
    const { run } = await client.cancelRun(this.current.runId);
    if (run.status !== "running" && run.status !== "pending") this.end();
  }

  async answer(yes: boolean, note: string): Promise<void> {
    if (!this.current) return;
    // Only the question that is shown: a second click must not answer the next one.
    const { runId, resumed = 0 } = this.current;
    const run = await client.answerRun(runId, { yes, resumed, ...(note ? { note } : {}) });
    this.ended.delete(run.runId);
    this.follow(run);
  }
}

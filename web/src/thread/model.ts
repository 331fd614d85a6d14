// One thread as the page knows it: the events that were read so far, and those that come.
import { Refusal, client } from "../lib/api";
import { onFeed } from "../lib/feed";
import { Heights } from "../lib/heights";
import { Signal } from "../lib/signal";
import { openStream } from "../lib/stream";
import type { ContextWindow, LedgerEntry, Strategy, Thread, ThreadEvent } from "../lib/types";
import { RunFollower } from "./runs";
import { Branches, Pairs, Summaries, type Summary } from "./structure";

const kChunk = 100;
const kRowPx = 120;
const kMaxChunksAtOnce = 4;
const kAgainMs = 1500; // after a failure

export interface ContextChoice {
  maxTokens: number;
  strategy: Strategy;
}

export class ThreadModel {
  readonly revision = new Signal(0);
  readonly thread = new Signal<Thread | undefined>(undefined);
  readonly error = new Signal<unknown>(undefined);
  readonly gone = new Signal(false);
  readonly context = new Signal<ContextWindow | undefined>(undefined);
  readonly contextError = new Signal<unknown>(undefined);
  readonly heights = new Heights(kRowPx);
  readonly pairs = new Pairs();
  readonly branches = new Branches();
  readonly summaries = new Summaries();
  readonly runs: RunFollower;

  private readonly events = new Map<number, ThreadEvent>();
  private readonly chunks = new Map<number, "loading" | "loaded">();
  private readonly unfolded = new Set<number>(); // summaries whose messages are shown
  private lastSeq = 0;
  private stopped = false;
  private stops: (() => void)[] = [];
  private told = false;
  private choice: ContextChoice | undefined;

  constructor(readonly id: string) {
    this.runs = new RunFollower(id, () => this.changed());
  }

  async start(): Promise<void> {
    try {
      const thread = await client.getThread(this.id);
      if (this.stopped) return;
      this.lastSeq = thread.lastSeq;
      this.heights.resize(this.lastSeq);
      this.thread.set(thread);
      this.changed();
      this.need(Math.max(0, this.lastSeq - kChunk), this.lastSeq - 1);
      this.follow();
      void this.runs.look();
      void this.loadSummaries();
      this.error.set(undefined);
    } catch (error) {
      if (this.stopped) return;
      this.error.set(error);
      if (error instanceof Refusal && error.status === 0) setTimeout(() => this.restart(), kAgainMs);
    }
  }

  private restart(): void {
    if (!this.stopped) void this.start();
  }

  stop(): void {
    this.stopped = true;
    this.runs.stop();
    for (const stop of this.stops) stop();
  }

  // --- Rows ---

  event(seq: number): ThreadEvent | undefined {
    return this.events.get(seq);
  }

  get last(): number {
    return this.lastSeq;
  }

  hidden(seq: number): boolean {
    return this.pairs.isAnswer(seq) || this.isFolded(seq);
  }

  private isFolded(seq: number): boolean {
    const over = this.summaries.over(seq);
    return over !== undefined && !this.unfolded.has(over.seq) && over.first !== seq;
  }

  // The summary whose place this row is.
  summaryAt(seq: number): { summary: Summary; folded: boolean } | undefined {
    const over = this.summaries.over(seq);
    if (!over || over.first !== seq) return undefined;
    return { summary: over, folded: !this.unfolded.has(over.seq) };
  }

  fold(summary: Summary, folded: boolean): void {
    if (folded) this.unfolded.delete(summary.seq);
    else this.unfolded.add(summary.seq);
    this.layOut();
    this.changed();
  }

  // Makes a row visible that a fold hides, and answers the row that stands for it.
  uncover(seq: number): number {
    const over = this.summaries.over(seq);
    if (over && !this.unfolded.has(over.seq)) this.fold(over, false);
    return this.pairs.callOf(seq) ?? seq;
  }

  private layOut(): void {
    for (let seq = 1; seq <= this.lastSeq; ++seq) {
      const none = this.hidden(seq);
      if (none) this.heights.set(seq - 1, 0);
      else if (this.heights.of(seq - 1) === 0) this.heights.set(seq - 1, kRowPx);
    }
  }

  // --- Reading ---

  need(firstRow: number, lastRow: number): void {
    let asked = 0;
    const lastChunk = Math.floor(Math.max(0, lastRow) / kChunk);
    for (let chunk = Math.floor(firstRow / kChunk); chunk <= lastChunk && asked < kMaxChunksAtOnce; ++chunk) {
      if (this.chunks.has(chunk) || chunk * kChunk >= this.lastSeq) continue;
      ++asked;
      void this.load(chunk);
    }
  }

  private async load(chunk: number): Promise<void> {
    this.chunks.set(chunk, "loading");
    const end = (chunk + 1) * kChunk;
    let after = chunk * kChunk;
    try {
      while (after < Math.min(end, this.lastSeq)) {
        const page = await client.listEvents(this.id, { after, limit: end - after });
        if (this.stopped) return;
        const last = page.events.at(-1);
        this.take(page.events as ThreadEvent[]);
        if (!last) break;
        after = last.seq;
      }
      this.chunks.set(chunk, "loaded");
    } catch (error) {
      if (this.stopped) return;
      if (error instanceof Refusal && error.status === 404) this.gone.set(true);
      setTimeout(() => {
        this.chunks.delete(chunk);
        this.changed();
      }, kAgainMs);
    }
  }

  private take(events: ThreadEvent[]): void {
    for (const event of events) {
      this.events.set(event.seq, event);
      if (event.seq > this.lastSeq) {
        this.lastSeq = event.seq;
        this.heights.resize(this.lastSeq);
      }
      const answer = this.pairs.take(event);
      if (answer !== undefined) this.heights.set(answer - 1, 0);
      this.branches.take(event);
      if (this.summaries.take(event)) this.layOut();
      else if (this.hidden(event.seq)) this.heights.set(event.seq - 1, 0);
    }
    this.changed();
  }

  private async loadSummaries(): Promise<void> {
    try {
      const page = await client.listMessages(this.id, { role: "system", order: "desc", limit: 200 });
      if (this.stopped) return;
      let any = false;
      for (const message of page.messages) any = this.summaries.take({ ...message, type: "message" }) || any;
      if (!any) return;
      this.layOut();
      this.changed();
    } catch {
      // Without them the messages themselves are there.
    }
  }

  // --- Following ---

  private follow(): void {
    this.stops.push(
      openStream({
        open: (stream, options) => stream.streamEvents(this.id, { after: this.lastSeq }, options),
        onOpen: (again) => {
          if (again) void this.refresh();
        },
        onEnd: () => this.gone.set(true),
        onRefused: (refusal) => (refusal.status === 404 ? this.gone.set(true) : this.error.set(refusal)),
        onEvent: ({ data }) => {
          const event = data as ThreadEvent;
          if (this.events.has(event.seq)) return;
          this.take([event]);
          this.runs.saw(event);
          if (this.choice) void this.loadContext(this.choice);
        },
      }),
      onFeed((event) => {
        if (event.threadId === this.id && event.event !== "thread:message") void this.refresh();
      }),
    );
  }

  async refresh(): Promise<void> {
    try {
      const thread = await client.getThread(this.id);
      if (!this.stopped) this.thread.set(thread);
      await this.runs.look();
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) this.gone.set(true);
    }
  }

  // --- The context window ---

  async loadContext(choice: ContextChoice | undefined): Promise<void> {
    this.choice = choice;
    if (!choice) {
      this.context.set(undefined);
      this.changed();
      return;
    }
    try {
      const window = await client.getContext(this.id, choice);
      if (this.stopped || this.choice !== choice) return;
      this.contextError.set(undefined);
      this.context.set(window);
    } catch (error) {
      if (this.stopped || this.choice !== choice) return;
      this.context.set(undefined);
      this.contextError.set(error);
    }
    this.changed();
  }

  // What became of an event in the window that is drawn.
  fate(seq: number): LedgerEntry | undefined {
    const ledger = this.context.value?.ledger;
    return ledger?.find((entry) => (entry.from ?? 0) <= seq && seq <= (entry.to ?? -1));
  }

  // --- Doing ---

  async fork(seq: number): Promise<Thread> {
    return client.forkThread(this.id, { seq });
  }

  private changed(): void {
    if (this.told || this.stopped) return;
    this.told = true;
    // Many events may come at once, and are drawn once.
    requestAnimationFrame(() => {
      this.told = false;
      if (!this.stopped) this.revision.set(this.revision.value + 1);
    });
  }
}

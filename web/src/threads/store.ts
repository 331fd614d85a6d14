// The list of threads: pages that were read, and what one asked for. It outlives the view, so that
// going back finds the list as it was.
import { client, given } from "../lib/api";
import { onComeback, onFeed } from "../lib/feed";
import { Heights } from "../lib/heights";
import { Signal } from "../lib/signal";
import { threadStatuses, type Thread, type ThreadStatus } from "../lib/types";

const kPage = 100;
const kRefreshMs = 600;
const kRowPx = 77;

export interface Filter {
  text: string;
  agent: string;
  status: ThreadStatus | "";
  metadata: string; // key=value
}

export const noFilter: Filter = { text: "", agent: "", status: "", metadata: "" };

// {"key":"value"} of key=value; numbers and truths by their own types. Nothing: it is neither.
export function metadataQuery(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return "";
  const equals = text.indexOf("=");
  if (equals < 1) return undefined;
  const value = text.slice(equals + 1).trim();
  let scalar: unknown = value;
  if (/^(-?\d+(\.\d+)?|true|false|null)$/.test(value)) scalar = JSON.parse(value);
  return JSON.stringify({ [text.slice(0, equals).trim()]: scalar });
}

class ThreadList {
  readonly revision = new Signal(0);
  readonly filter = new Signal<Filter>(noFilter);
  readonly counts = new Signal<Partial<Record<ThreadStatus | "all", number>>>({});
  readonly heights = new Heights(kRowPx);
  rows: Thread[] = [];
  total: number | undefined;
  error: unknown;
  selected = 0;
  private next: string | undefined = "";
  private busy = false;
  private turn = 0; // of the filter: answers to another one are thrown away
  private refreshing: ReturnType<typeof setTimeout> | undefined;
  private started = false;

  get loading(): boolean {
    return this.busy;
  }

  get complete(): boolean {
    return this.next === undefined;
  }

  start(): void {
    if (this.started) return;
    this.started = true;
    onFeed((event) => {
      if (event.event === "thread:deleted") this.drop(event.threadId);
      this.refreshSoon();
    });
    onComeback(() => this.refreshSoon());
    void this.more();
  }

  // After a key was entered, or by hand.
  restart(): void {
    this.turn += 1;
    this.rows = [];
    this.next = "";
    this.busy = false;
    this.error = undefined;
    this.total = undefined;
    this.selected = 0;
    this.changed();
    if (this.started) void this.more();
  }

  setFilter(filter: Filter): void {
    this.filter.set(filter);
    this.restart();
  }

  private query() {
    const { text, agent, status, metadata } = this.filter.value;
    return given({ text: text.trim(), agentId: agent.trim(), status, metadata: metadataQuery(metadata) });
  }

  async more(): Promise<void> {
    if (this.busy || this.next === undefined) return;
    this.busy = true;
    const turn = this.turn;
    const first = this.next === "";
    try {
      const page = await client.listThreads({ ...this.query(), limit: kPage, ...given({ cursor: this.next }) });
      if (turn !== this.turn) return;
      const known = new Set(this.rows.map((row) => row.threadId));
      this.rows.push(...page.threads.filter((row) => !known.has(row.threadId)));
      this.next = page.next;
      this.error = undefined;
      if (first) void this.count(turn);
    } catch (error) {
      if (turn !== this.turn) return;
      this.error = error;
    }
    this.busy = false;
    this.changed();
    // A page may be short though more follows: filters by text look at so many threads at a time.
    if (!this.error && this.rows.length < kPage / 2) void this.more();
  }

  private async count(turn: number): Promise<void> {
    const { text: _text, status: _status, ...query } = this.query();
    const ask = async (status: ThreadStatus | "") => {
      const page = await client.listThreads({ ...query, ...given({ status }), limit: 1, total: true });
      return page.total ?? 0;
    };
    try {
      const counts: Partial<Record<ThreadStatus | "all", number>> = { all: await ask("") };
      if (turn !== this.turn) return;
      this.counts.set({ ...counts });
      for (const status of threadStatuses) {
        counts[status] = await ask(status);
        if (turn !== this.turn) return;
      }
      this.counts.set(counts);
      this.total = this.filter.value.text.trim() ? undefined : counts[this.filter.value.status || "all"];
      this.changed();
    } catch {
      // Figures are a courtesy; the list itself says what is wrong.
    }
  }

  private refreshSoon(): void {
    if (this.refreshing) return;
    this.refreshing = setTimeout(() => {
      this.refreshing = undefined;
      void this.refresh();
    }, kRefreshMs);
  }

  // The newest ones again, in front of the others.
  async refresh(): Promise<void> {
    const turn = this.turn;
    if (this.error) return this.restart();
    try {
      const page = await client.listThreads({ ...this.query(), limit: kPage });
      if (turn !== this.turn) return;
      const fresh = new Set(page.threads.map((row) => row.threadId));
      const chosen = this.rows[this.selected]?.threadId;
      this.rows = [...page.threads, ...this.rows.filter((row) => !fresh.has(row.threadId))];
      this.selected = Math.max(0, this.rows.findIndex((row) => row.threadId === chosen));
      this.changed();
      void this.count(turn);
    } catch {
      // It comes again with the next event.
    }
  }

  private drop(id: string): void {
    this.rows = this.rows.filter((row) => row.threadId !== id);
    this.changed();
  }

  private changed(): void {
    this.selected = Math.min(this.selected, Math.max(0, this.rows.length - 1));
    this.heights.resize(this.rows.length);
    this.revision.set(this.revision.value + 1);
  }
}

export const threadList = new ThreadList();

// What belongs to what in a thread: calls and their answers, branches, summaries.
import type { ThreadEvent } from "../lib/types";

function callId(event: ThreadEvent): string | undefined {
  const id = event.metadata?.["tool_call_id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

// Tool calls and the messages that answer them, in whatever order they are read.
export class Pairs {
  private readonly calls = new Map<string, number>();
  private readonly waiting = new Map<string, number>(); // answers whose call was not read yet
  private readonly answers = new Map<number, number>(); // of a call's seq
  private readonly callOfAnswer = new Map<number, number>();

  // The seq of an answer that is shown with its call from now on.
  take(event: ThreadEvent): number | undefined {
    const id = callId(event);
    if (id === undefined) return undefined;
    if (event.type === "tool_use") {
      this.calls.set(id, event.seq);
      const answer = this.waiting.get(id);
      if (answer === undefined || answer < event.seq) return undefined;
      return this.join(event.seq, answer);
    }
    if (event.type !== "message" || event.role !== "tool") return undefined;
    const call = this.calls.get(id);
    if (call !== undefined && call < event.seq) return this.join(call, event.seq);
    this.waiting.set(id, event.seq);
    return undefined;
  }

  private join(call: number, answer: number): number | undefined {
    const known = this.answers.get(call);
    if (known !== undefined && known !== answer) return undefined;
    this.answers.set(call, answer);
    this.callOfAnswer.set(answer, call);
    return answer;
  }

  answerOf(call: number): number | undefined {
    return this.answers.get(call);
  }

  callOf(answer: number): number | undefined {
    return this.callOfAnswer.get(answer);
  }

  isAnswer(seq: number): boolean {
    return this.callOfAnswer.has(seq);
  }
}

// An event with a base continues from there: what lies between was set aside.
export class Branches {
  private readonly points = new Map<number, number>(); // base of a seq
  private aside: [number, number][] = [];

  take(event: ThreadEvent): void {
    if (event.base === undefined || event.base >= event.seq - 1 || this.points.has(event.seq)) return;
    this.points.set(event.seq, event.base);
    this.aside = [];
    for (const [seq, base] of [...this.points].sort(([a], [b]) => b - a)) {
      if (!this.isAside(seq)) this.aside.push([base + 1, seq - 1]);
    }
  }

  isAside(seq: number): boolean {
    return this.aside.some(([first, last]) => first <= seq && seq <= last);
  }
}

export interface Summary {
  seq: number;
  text: string;
  covers: [number, number][];
  first: number; // where it is shown
  count: number; // of the events that it covers
}

function rangesOf(value: unknown): [number, number][] {
  if (!Array.isArray(value)) return [];
  const ranges = value.filter(
    (one): one is [number, number] =>
      Array.isArray(one) && one.length === 2 && one.every((place) => Number.isInteger(place)) && one[0] <= one[1],
  );
  return ranges.sort(([a], [b]) => a - b);
}

const holds = (ranges: [number, number][], seq: number): boolean =>
  ranges.some(([first, last]) => first <= seq && seq <= last);

// The summaries that are in force: not undone, and not covered by a later one.
export class Summaries {
  private readonly known = new Map<number, Summary>();
  private readonly undone = new Set<number>();
  private inForce: Summary[] = [];

  // Whether that changed what is in force.
  take(event: ThreadEvent): boolean {
    if (event.type !== "message" || event.role !== "system") return false;
    const undoes = event.metadata?.["undoes"];
    const covers = rangesOf(event.metadata?.["covers"]);
    if (typeof undoes === "number" && !this.undone.has(undoes)) this.undone.add(undoes);
    else if (event.memoryType === "context_summary" && covers.length > 0 && !this.known.has(event.seq)) {
      this.known.set(event.seq, {
        seq: event.seq,
        text: event.text ?? "",
        covers,
        first: covers[0]![0],
        count: covers.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      });
    } else return false;
    this.inForce = [];
    const newestFirst = [...this.known.values()].sort((a, b) => b.seq - a.seq);
    for (const one of newestFirst) {
      if (this.undone.has(one.seq)) continue;
      if (this.inForce.some((later) => holds(later.covers, one.seq))) continue;
      this.inForce.push(one);
    }
    return true;
  }

  over(seq: number): Summary | undefined {
    return this.inForce.find((one) => holds(one.covers, seq));
  }

  bySeq(seq: number): Summary | undefined {
    return this.inForce.find((one) => one.seq === seq);
  }
}

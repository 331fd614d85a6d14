// What the events of a thread look like.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { brief, cost, duration, plural } from "../lib/format";
import { threadLink } from "../lib/router";
import type { LedgerEntry, ThreadEvent } from "../lib/types";
import { IconButton, Tag, Time } from "../ui/bits";
import { Icon } from "../ui/icons";
import { CodeBlock, Markdown } from "../ui/markdown";
import type { ThreadModel } from "./model";
import type { Summary } from "./structure";

const kFateWords = { in: "in the window", summarised: "summarised", left_out: "left out" };

export interface RowProps {
  model: ThreadModel;
  seq: number;
  marked: boolean; // the address points to it
  onFork: (seq: number) => void;
  onPin: (seq: number, pinned: boolean) => void;
}

export function Row(props: RowProps) {
  const { model, seq } = props;
  const event = model.event(seq);
  const shown = model.summaryAt(seq);
  return (
    <>
      {shown && <SummaryCard model={model} summary={shown.summary} folded={shown.folded} />}
      {!shown?.folded && (event ? <EventRow {...props} event={event} /> : <Placeholder seq={seq} />)}
    </>
  );
}

function Placeholder({ seq }: { seq: number }) {
  return (
    <div class="event placeholder" aria-label={`Event ${seq} is being loaded`}>
      <span />
      <span />
    </div>
  );
}

function EventRow(props: RowProps & { event: ThreadEvent }) {
  const { model, seq, event } = props;
  const fate = model.fate(seq);
  const aside = model.branches.isAside(seq);
  const classes = ["event", `event-${event.type}`];
  if (event.role) classes.push(`role-${event.role}`);
  if (props.marked) classes.push("marked");
  if (aside) classes.push("aside");
  if (fate) classes.push(`fate-${fate.what}`);
  return (
    <article class={classes.join(" ")} aria-label={`${speaker(event)}, event ${seq}`}>
      {fate && <FateMark fate={fate} />}
      {aside && <p class="aside-note">Set aside by a later edit or rollback</p>}
      <Content {...props} />
    </article>
  );
}

function FateMark({ fate }: { fate: LedgerEntry }) {
  const words = `${kFateWords[fate.what]}: ${fate.why}`;
  return (
    <span class="fate" title={words}>
      <span class="sr-only">{words}</span>
    </span>
  );
}

function speaker(event: ThreadEvent): string {
  const name = event.metadata?.["name"] ?? event.metadata?.["speaker"];
  if (typeof name === "string" && name) return name;
  if (event.type === "tool_use") return `Tool ${event.name ?? ""}`;
  if (event.type === "assistant_text") return "Assistant, on the way";
  if (event.type === "result") return "Result of a run";
  if (event.type === "unreadable") return "Damaged event";
  return { user: "User", assistant: "Assistant", system: "System", tool: "Tool" }[event.role ?? "user"];
}

function Content(props: RowProps & { event: ThreadEvent }) {
  const { event, model } = props;
  switch (event.type) {
    case "tool_use":
      return <ToolCall {...props} />;
    case "result":
      return <ResultLine event={event} />;
    case "unreadable":
      return (
        <p class="unreadable">
          <Icon name="alert" size={16} /> Event {event.seq} cannot be read: {event.reason}. <code>skein doctor</code> says more.
        </p>
      );
    case "assistant_text":
      return (
        <>
          <Head {...props} />
          <div class="narration">
            <Markdown text={event.text ?? ""} />
          </div>
        </>
      );
    default:
      return <Message {...props} summary={model.summaries.bySeq(event.seq)} />;
  }
}

function Message(props: RowProps & { event: ThreadEvent; summary: Summary | undefined }) {
  const { event, summary, model } = props;
  if (summary) {
    return (
      <p class="summary-note">
        <Icon name="fold" size={16} /> A summary of {plural(summary.count, "event")} was written here.{" "}
        <a href={threadLink(model.id, summary.first)}>See it at its place</a>
      </p>
    );
  }
  if (typeof event.metadata?.["undoes"] === "number") {
    return <p class="summary-note">The summary {String(event.metadata["undoes"])} was undone here.</p>;
  }
  return (
    <>
      <Head {...props} />
      <div class="body">
        <Markdown text={event.text ?? ""} />
      </div>
    </>
  );
}

function Head(props: RowProps & { event: ThreadEvent }) {
  const { event, model } = props;
  const pinned = model.thread.value?.pins?.includes(event.seq) ?? false;
  return (
    <header class="event-head">
      <span class="speaker">
        <bdi>{speaker(event)}</bdi>
      </span>
      {event.memoryType === "decision_point" && <Tag>decision</Tag>}
      {pinned && <Tag>pinned</Tag>}
      <Time at={event.timestamp} />
      <Actions {...props} pinned={pinned} />
      <a class="seq" href={threadLink(model.id, event.seq)} aria-label={`Link to event ${event.seq}`}>
        {event.seq}
      </a>
    </header>
  );
}

function Actions(props: RowProps & { pinned: boolean }) {
  const { seq, pinned } = props;
  return (
    <span class="event-actions">
      <IconButton icon="fork" label={`Fork from event ${seq}`} size={16} onClick={() => props.onFork(seq)} />
      <IconButton
        icon="pin"
        label={pinned ? `Unpin event ${seq}` : `Pin event ${seq}: windows keep it`}
        size={16}
        pressed={pinned}
        onClick={() => props.onPin(seq, !pinned)}
      />
    </span>
  );
}

// --- Tools ---

function ToolCall(props: RowProps & { event: ThreadEvent }) {
  const { event, model, seq } = props;
  const answerSeq = model.pairs.answerOf(seq);
  const answer = answerSeq === undefined ? undefined : model.event(answerSeq);
  const failed = answer?.metadata?.["is_error"] === true;
  const [input, texts] = useMemo(() => partsOf(event.input), [event.input]);
  return (
    <details class={"tool" + (failed ? " failed" : "")}>
      <summary>
        <Icon name="tool" size={16} />
        <bdi class="tool-name">{event.name}</bdi>
        <span class="tool-input">
          <bdi>{oneLine(event.input)}</bdi>
        </span>
        <span class="tool-state">{failed ? "failed" : answer ? "done" : "no result"}</span>
      </summary>
      <div class="tool-body">
        {input !== undefined && (
          <Labelled label="Input">
            <CodeBlock text={input} lang="json" />
          </Labelled>
        )}
        {texts.map(([name, text]) => (
          <Labelled key={name} label={name}>
            <CodeBlock text={text} lang="text" />
          </Labelled>
        ))}
        {answer && (
          <Labelled label={failed ? "Error" : "Result"}>
            <ToolText text={answer.text ?? ""} />
          </Labelled>
        )}
        <p class="tool-foot">
          Events {seq}
          {answerSeq !== undefined && ` and ${answerSeq}`} · <Time at={event.timestamp} />
          <Actions {...props} pinned={model.thread.value?.pins?.includes(seq) ?? false} />
        </p>
      </div>
    </details>
  );
}

function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="labelled">
      <p class="label">
        <bdi>{label}</bdi>
      </p>
      {children}
    </div>
  );
}

function ToolText({ text }: { text: string }) {
  const json = useMemo(() => (/^\s*[[{]/.test(text) && text.length < 200_000 ? parsed(text) : undefined), [text]);
  return <CodeBlock text={json === undefined ? text : pretty(json)} lang={json === undefined ? "text" : "json"} />;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const pretty = (value: unknown): string => JSON.stringify(value ?? {}, null, 2);

const hasLines = (value: unknown): boolean => typeof value === "string" && value.trim().includes("\n");

// As JSON, but for what has lines of its own: files, patches, scripts.
function partsOf(input: Record<string, unknown> | undefined): [json: string | undefined, texts: [name: string, text: string][]] {
  const fields = Object.entries(input ?? {});
  const texts = fields.filter((field): field is [string, string] => hasLines(field[1]));
  const others = fields.filter(([, value]) => !hasLines(value));
  return [others.length > 0 || texts.length === 0 ? pretty(Object.fromEntries(others)) : undefined, texts];
}

function oneLine(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const values = Object.entries(input).slice(0, 4);
  const words = values.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return words.join(", ").replace(/\s+/g, " ").slice(0, 160);
}

// --- Runs, summaries ---

function ResultLine({ event }: { event: ThreadEvent }) {
  const parts: string[] = [];
  if (event.durationMs !== undefined) parts.push(duration(event.durationMs));
  if (event.inputTokens !== undefined) parts.push(`${brief(event.inputTokens)} tokens in`);
  if (event.outputTokens !== undefined) parts.push(`${brief(event.outputTokens)} out`);
  if (event.cacheReadTokens) parts.push(`${brief(event.cacheReadTokens)} cached`);
  if (event.cost !== undefined) parts.push(cost(event.cost));
  if ((event.turns ?? 0) > 1) parts.push(plural(event.turns!, "turn"));
  return (
    <p class="result-line">
      <span>{parts.join(" · ") || "run ended"}</span>
    </p>
  );
}

function SummaryCard({ model, summary, folded }: { model: ThreadModel; summary: Summary; folded: boolean }) {
  return (
    <section class="summary-card" aria-label={`Summary of ${plural(summary.count, "event")}`}>
      <header>
        <span class="speaker">Summary</span>
        <span class="muted">
          stands for {plural(summary.count, "event")}, {summary.first}–{summary.covers.at(-1)![1]}
        </span>
        <button
          type="button"
          class="button"
          aria-expanded={!folded}
          onClick={() => model.fold(summary, !folded)}
        >
          {folded ? "Show them" : "Fold them"}
        </button>
      </header>
      <Markdown text={summary.text} />
    </section>
  );
}

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { client, messageOf } from "../lib/api";
import { cost, brief, plural, titleOf } from "../lib/format";
import { go, restate, threadLink } from "../lib/router";
import { useSignal } from "../lib/signal";
import type { Thread, ThreadStatus } from "../lib/types";
import { Empty, Failure, IconButton, Loading, Status, Tag, Time } from "../ui/bits";
import { Icon } from "../ui/icons";
import { Markdown } from "../ui/markdown";
import { isTyping, useEvent } from "../ui/use_data";
import { VirtualList, type ListHandle } from "../ui/virtual";
import { Composer } from "./composer";
import { ContextPanel } from "./context_panel";
import { ThreadModel } from "./model";
import { Row } from "./rows";

export function ThreadView({ id, seq }: { id: string; seq: number | undefined }) {
  const model = useMemo(() => new ThreadModel(id), [id]);
  useEffect(() => {
    void model.start();
    return () => model.stop();
  }, [model]);
  const thread = useSignal(model.thread);
  const error = useSignal(model.error);
  const gone = useSignal(model.gone);
  useEffect(() => {
    document.title = thread ? `${titleOf(thread)} · Skein` : "Skein";
  }, [thread]);
  if (error !== undefined || gone) {
    return (
      <section class="thread">
        {gone ? (
          <Empty title="This thread is gone" icon="threads">
            <p>It was deleted. Forks of it live on.</p>
            <p>
              <a class="button" href="#/threads">
                Back to all threads
              </a>
            </p>
          </Empty>
        ) : (
          <Failure error={error} again={() => location.reload()} />
        )}
      </section>
    );
  }
  if (!thread) {
    return (
      <section class="thread">
        <Loading label="Loading the thread" />
      </section>
    );
  }
  return <OpenThread key={id} model={model} thread={thread} seq={seq} />;
}

function OpenThread({ model, thread, seq }: { model: ThreadModel; thread: Thread; seq: number | undefined }) {
  const revision = useSignal(model.revision);
  const list = useRef<ListHandle>(null);
  const [atEnd, setAtEnd] = useState(true);
  const [drawn, setDrawn] = useState(false);
  const [notice, setNotice] = useState("");

  useEffect(() => {
    if (seq === undefined || seq < 1) return;
    const row = model.uncover(Math.min(seq, model.last));
    // Heights settle as rows are measured: it is looked for again until they have.
    const timers = [0, 150, 500].map((ms) => setTimeout(() => list.current?.show(row - 1, "start"), ms));
    return () => timers.forEach(clearTimeout);
  }, [model, seq]);

  useEvent("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (isTyping(event)) (event.target as HTMLElement).blur();
      else if (drawn) setDrawn(false);
      else go(["threads"]);
    } else if (isTyping(event)) return;
    else if (event.key === "w") setDrawn(!drawn);
    else if (event.key === "End") list.current?.end();
    else if (event.key === "Home") list.current?.show(0, "start");
    else if (event.key === "r") document.querySelector<HTMLElement>(".composer textarea")?.focus();
    else return;
    event.preventDefault();
  });

  const attempt = async (work: () => Promise<void>) => {
    try {
      setNotice("");
      await work();
    } catch (problem) {
      setNotice(messageOf(problem));
    }
  };
  const fork = (at: number) =>
    void attempt(async () => {
      const made = await model.fork(at);
      go(["thread", made.threadId]);
    });
  const pin = (at: number, pinned: boolean) =>
    void attempt(async () => {
      await (pinned ? client.pinEvent(model.id, at) : client.unpinEvent(model.id, at));
      await model.refresh();
    });
  const setStatus = (status: ThreadStatus) =>
    void attempt(async () => {
      model.thread.set(await client.setThreadStatus(model.id, { status }));
    });

  const busy = model.runs.busy;
  return (
    <section class={"thread" + (drawn ? " with-panel" : "")} aria-label={titleOf(thread)}>
      <Header
        thread={thread}
        drawn={drawn}
        onDraw={() => setDrawn(!drawn)}
        onStatus={setStatus}
        onFork={() => fork(model.last)}
        revision={model.last}
      />
      {notice && (
        <p class="form-error" role="alert">
          {notice}
        </p>
      )}
      <div class="conversation">
        {model.last === 0 && !busy ? (
          <Empty title="Nothing was said yet" icon="threads">
            <p>Write a message below: {thread.agentId} answers.</p>
          </Empty>
        ) : (
          <VirtualList
            heights={model.heights}
            revision={revision}
            label="Messages"
            handle={list}
            follow={seq === undefined}
            onEndChange={setAtEnd}
            onRange={(first, last) => model.need(first, last)}
            hidden={(index) => model.hidden(index + 1)}
            row={(index) => (
              <Row model={model} seq={index + 1} marked={index + 1 === seq} onFork={fork} onPin={pin} />
            )}
            footer={<LiveRow model={model} />}
          />
        )}
        {!atEnd && (
          <button
            type="button"
            class="button to-end"
            onClick={() => {
              if (seq !== undefined) restate(["thread", model.id]);
              list.current?.end();
            }}
          >
            <Icon name="down" size={16} /> Newest
          </button>
        )}
      </div>
      <p class="sr-only" role="status">
        {busy ? `${thread.agentId} is at work` : ""}
      </p>
      <Composer model={model} thread={thread} />
      {drawn && <ContextPanel model={model} onClose={() => setDrawn(false)} />}
    </section>
  );
}

// What the agent says right now, before it is an event of the thread.
function LiveRow({ model }: { model: ThreadModel }) {
  const { current, text, thinking, busy } = model.runs;
  if (!busy) return <div class="live-space" />;
  return (
    <article class="event live" aria-label={`${current?.agentId ?? "The agent"} is at work`} aria-busy="true">
      <header class="event-head">
        <span class="speaker">{current?.agentId}</span>
        <span class="working">
          <span class="spinner" /> {current?.status === "pending" ? "waits its turn" : "at work"}
        </span>
      </header>
      {thinking && <p class="thinking">{thinking.slice(-600)}</p>}
      {text && <Markdown text={text} />}
    </article>
  );
}

const kMoves: Record<ThreadStatus, [ThreadStatus, string][]> = {
  active: [
    ["paused", "Pause"],
    ["closed", "Close"],
  ],
  paused: [
    ["active", "Resume"],
    ["closed", "Close"],
  ],
  closed: [["archived", "Archive"]],
  archived: [["closed", "Restore"]],
};

function Header(props: {
  thread: Thread;
  drawn: boolean;
  revision: number;
  onDraw: () => void;
  onFork: () => void;
  onStatus: (status: ThreadStatus) => void;
}) {
  const { thread } = props;
  const moves = [
    ...kMoves[thread.status].map(([status, word]) => (
      <button key={status} type="button" class="button quiet" onClick={() => props.onStatus(status)}>
        {word}
      </button>
    )),
    <button key="fork" type="button" class="button quiet" onClick={props.onFork}>
      <Icon name="fork" size={16} /> Fork
    </button>,
  ];
  return (
    <header class="thread-head">
      <a class="icon-button back" href="#/threads" aria-label="Back to all threads">
        <Icon name="back" />
      </a>
      <div class="thread-names">
        <h1>
          <bdi>{titleOf(thread)}</bdi>
        </h1>
        <p class="thread-about">
          <bdi class="agent">{thread.agentId}</bdi>
          <Status status={thread.status} />
          <code>{thread.threadId}</code>
          <span>
            <Time at={thread.updatedAt} />
          </span>
          {thread.parent && (
            <a href={threadLink(thread.parent.threadId, thread.parent.seq)}>
              fork of {thread.parent.threadId.slice(0, 6)} at {thread.parent.seq}
            </a>
          )}
          {thread.resolution && <Tag>{thread.resolution}</Tag>}
          <ThreadUsage id={thread.threadId} revision={props.revision} />
        </p>
      </div>
      <div class="thread-actions">
        <span class="wide-only">{moves}</span>
        <details class="menu narrow-only">
          <summary class="icon-button" aria-label="More">
            <Icon name="more" />
          </summary>
          <div class="menu-list">{moves}</div>
        </details>
        <IconButton icon="window" label="Context window" pressed={props.drawn} onClick={props.onDraw} />
      </div>
    </header>
  );
}

// What its newest runs cost.
function ThreadUsage({ id, revision }: { id: string; revision: number }) {
  const [words, setWords] = useState("");
  useEffect(() => {
    const timer = setTimeout(async () => {
      try {
        const { runs } = await client.listRuns({ threadId: id, limit: 500 });
        if (runs.length === 0) return;
        const sum = (...names: string[]) =>
          runs.reduce((all, run) => names.reduce((part, name) => part + (run.usage?.[name] ?? 0), all), 0);
        const parts = [plural(runs.length, "run")];
        parts.push(`${brief(sum("inputTokens", "outputTokens", "cacheReadTokens"))} tokens`);
        if (sum("costUsd") > 0) parts.push(cost(sum("costUsd")));
        setWords(parts.join(" · "));
      } catch {
        // A courtesy.
      }
    }, 600);
    return () => clearTimeout(timer);
  }, [id, revision]);
  return words ? <span class="usage-words">{words}</span> : null;
}

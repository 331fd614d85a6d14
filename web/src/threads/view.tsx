import { useEffect, useRef, useState } from "preact/hooks";
import { agents, loadAgents } from "../lib/agents";
import { brief, count, plural, titleOf } from "../lib/format";
import { go, threadLink } from "../lib/router";
import { useSignal } from "../lib/signal";
import { threadStatuses, type Thread } from "../lib/types";
import { Command, Empty, Failure, Loading, Status, Tag, Time } from "../ui/bits";
import { Icon } from "../ui/icons";
import { isTyping, useCalm, useEvent } from "../ui/use_data";
import { VirtualList, type ListHandle } from "../ui/virtual";
import { NewThread } from "./new_thread";
import { metadataQuery, noFilter, threadList, type Filter } from "./store";

export function ThreadsView({ open }: { open: string | undefined }) {
  const revision = useSignal(threadList.revision);
  const [making, setMaking] = useState(false);
  const list = useRef<ListHandle>(null);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    threadList.start();
    void loadAgents();
  }, []);

  const move = (to: number) => {
    if (threadList.rows.length === 0) return;
    threadList.selected = Math.max(0, Math.min(to, threadList.rows.length - 1));
    threadList.revision.set(threadList.revision.value + 1);
    list.current?.show(threadList.selected, "nearest");
    if (threadList.selected > threadList.rows.length - 20) void threadList.more();
  };
  const enter = () => {
    const row = threadList.rows[threadList.selected];
    if (row) go(["thread", row.threadId]);
  };

  useEvent("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const inSearch = event.target === search.current;
    if (event.key === "/" && !isTyping(event)) {
      search.current?.focus();
      search.current?.select();
    } else if (event.key === "Escape" && inSearch) {
      if (threadList.filter.value.text) threadList.setFilter({ ...threadList.filter.value, text: "" });
      else search.current?.blur();
    } else if (open !== undefined || (isTyping(event) && !inSearch)) return;
    else if (event.key === "ArrowDown" || (event.key === "j" && !inSearch)) move(threadList.selected + 1);
    else if (event.key === "ArrowUp" || (event.key === "k" && !inSearch)) move(threadList.selected - 1);
    else if (event.key === "PageDown") move(threadList.selected + 8);
    else if (event.key === "PageUp") move(threadList.selected - 8);
    else if (event.key === "Home" && !inSearch) move(0);
    else if (event.key === "Enter" && !isOnButton(event, inSearch)) enter();
    else if (event.key === "n" && !inSearch) setMaking(true);
    else return;
    event.preventDefault();
  });

  const { rows, error } = threadList;
  return (
    <section class="threads" aria-label="Threads">
      <div class="threads-head">
        <div class="threads-title">
          <h1>Threads</h1>
          <span class="threads-total" role="status">
            {threadList.total !== undefined && plural(threadList.total, "thread")}
          </span>
          <button type="button" class="button primary" onClick={() => setMaking(true)}>
            <Icon name="plus" size={16} /> New
          </button>
        </div>
        <Filters search={search} />
      </div>
      {error !== undefined && <Failure error={error} again={() => threadList.restart()} />}
      {rows.length === 0 && error === undefined ? (
        threadList.loading || !threadList.complete ? (
          <Loading label="Loading threads" />
        ) : (
          <NoThreads />
        )
      ) : (
        <VirtualList
          heights={threadList.heights}
          revision={revision}
          label="Threads, the last updated first"
          list
          handle={list}
          onRange={(_, last) => {
            if (last > rows.length - 30) void threadList.more();
          }}
          row={(index) => {
            const thread = rows[index];
            if (!thread) return null;
            return <ThreadRow thread={thread} selected={index === threadList.selected} open={thread.threadId === open} />;
          }}
          footer={
            <p class="list-end">
              {threadList.complete ? `${count(rows.length)} shown, that is all` : "Loading more…"}
            </p>
          }
        />
      )}
      {making && <NewThread onClose={() => setMaking(false)} />}
    </section>
  );
}

function isOnButton(event: KeyboardEvent, inSearch: boolean): boolean {
  const target = event.target;
  return !inSearch && target instanceof HTMLElement && /^(BUTTON|A|SUMMARY)$/.test(target.tagName);
}

function ThreadRow({ thread, selected, open }: { thread: Thread; selected: boolean; open: boolean }) {
  const metadata = Object.entries(thread.metadata ?? {}).filter(([, value]) => typeof value !== "object");
  return (
    <a
      class={"thread-row" + (selected ? " selected" : "")}
      href={threadLink(thread.threadId)}
      aria-current={open ? "page" : undefined}
    >
      <span class="thread-row-title">
        <bdi>{titleOf(thread)}</bdi>
      </span>
      <Time at={thread.updatedAt} />
      <span class="thread-row-about">
        <bdi class="agent">{thread.agentId}</bdi>
        {thread.status !== "active" && <Status status={thread.status} />}
        {thread.parent && <span class="muted">fork</span>}
        <span class="muted">{plural(thread.lastSeq, "event")}</span>
        {metadata.slice(0, 3).map(([name, value]) => (
          <Tag key={name}>{`${name}=${String(value)}`.slice(0, 40)}</Tag>
        ))}
      </span>
    </a>
  );
}

function Filters({ search }: { search: { current: HTMLInputElement | null } }) {
  const filter = useSignal(threadList.filter);
  const counts = useSignal(threadList.counts);
  const known = useSignal(agents);
  const [typed, setTyped] = useState(filter);
  const calm = useCalm(typed, 200);
  useEffect(() => setTyped(filter), [filter]);
  useEffect(() => {
    if (metadataQuery(calm.metadata) === undefined) return;
    if (JSON.stringify(calm) !== JSON.stringify(threadList.filter.value)) threadList.setFilter(calm);
  }, [calm]);
  const set = (change: Partial<Filter>) => setTyped({ ...typed, ...change });
  const now = (change: Partial<Filter>) => {
    const next = { ...typed, ...change };
    setTyped(next);
    threadList.setFilter(next);
  };
  return (
    <div class="filters">
      <div class="field-search">
        <Icon name="search" size={16} />
        <input
          ref={search}
          type="search"
          value={typed.text}
          placeholder="Filter by title"
          aria-label="Filter by title, id or metadata"
          aria-keyshortcuts="/"
          onInput={(event) => set({ text: event.currentTarget.value })}
        />
        <kbd aria-hidden="true">/</kbd>
      </div>
      <div class="filter-pair">
        <input
          class="field"
          list="agents"
          value={typed.agent}
          placeholder="Any agent"
          aria-label="Agent"
          onInput={(event) => set({ agent: event.currentTarget.value })}
        />
        <datalist id="agents">
          {known.map((one) => (
            <option key={one.id} value={one.id} />
          ))}
        </datalist>
        <input
          class="field"
          value={typed.metadata}
          placeholder="metadata: key=value"
          aria-label="Metadata, as key=value"
          aria-invalid={metadataQuery(typed.metadata) === undefined}
          onInput={(event) => set({ metadata: event.currentTarget.value })}
        />
      </div>
      <div class="segments" role="group" aria-label="Status">
        {(["", ...threadStatuses] as const).map((status) => (
          <button key={status} type="button" aria-pressed={typed.status === status} onClick={() => now({ status })}>
            {status || "all"}
            {(counts[status || "all"] ?? 0) > 0 && (
              <span class="segment-count">{brief(counts[status || "all"]!)}</span>
            )}
          </button>
        ))}
      </div>
    </div>
  );
}

function NoThreads() {
  const filter = useSignal(threadList.filter);
  if (JSON.stringify(filter) !== JSON.stringify(noFilter)) {
    return (
      <Empty title="No thread matches" icon="search">
        <p>
          <button type="button" class="button" onClick={() => threadList.setFilter(noFilter)}>
            Clear the filter
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No threads yet" icon="threads">
      <p>A thread is a conversation with an agent. Begin one with “New”, or in a terminal:</p>
      <p>
        <Command>skein run echo "Hello there"</Command>
      </p>
      <p>
        Conversations that you had elsewhere can be taken in: <Command>skein import ~/.claude/projects</Command>
      </p>
    </Empty>
  );
}

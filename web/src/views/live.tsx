import { useEffect, useState } from "preact/hooks";
import { client } from "../lib/api";
import { following, onFeed, recent } from "../lib/feed";
import { clock, moment } from "../lib/format";
import { threadLink } from "../lib/router";
import { useSignal } from "../lib/signal";
import type { FeedEvent, Run } from "../lib/types";
import { Empty, Tag, Time } from "../ui/bits";
import { useData } from "../ui/use_data";

const kWords: Record<string, string> = {
  "thread:created": "created",
  "thread:message": "message",
  "thread:updated": "updated",
  "thread:closed": "closed",
  "thread:archived": "archived",
  "thread:deleted": "deleted",
};

export function LiveView() {
  const events = useSignal(recent);
  const isLive = useSignal(following);
  const [held, setHeld] = useState<FeedEvent[] | undefined>();
  const shown = held ?? events;
  return (
    <section class="view" aria-label="Live activity">
      <div class="view-head">
        <div>
          <h1>Live</h1>
          <p class="muted">What happens in every process on this store, as it happens.</p>
        </div>
        <button type="button" class="button" aria-pressed={held !== undefined} onClick={() => setHeld(held ? undefined : events)}>
          {held ? `Go on (${Math.max(0, events.length - held.length)} new)` : "Hold"}
        </button>
      </div>
      <Running />
      {shown.length === 0 ? (
        <Empty title={isLive ? "Quiet at the moment" : "Not connected"} icon="live">
          <p>{isLive ? "Messages, new threads and changes of status appear here." : "It goes on by itself when the server answers."}</p>
        </Empty>
      ) : (
        <ol class="activity" aria-label="Latest first">
          {shown.map((event) => (
            <li key={event.cursor} class={"activity-row " + event.event.replace(":", "-")}>
              <time dateTime={timeOf(event)} title={timeOf(event) && moment(timeOf(event)!)}>
                {timeOf(event) ? clock(timeOf(event)!) : ""}
              </time>
              <span class="activity-what">{kWords[event.event] ?? event.event}</span>
              <span class="activity-text">
                <a href={threadLink(event.threadId, event.message?.seq)}>
                  <bdi>{textOf(event)}</bdi>
                </a>
              </span>
              {event.agentId && <Tag>{event.agentId}</Tag>}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function timeOf(event: FeedEvent): string | undefined {
  return event.message?.timestamp ?? event.thread?.updatedAt ?? event.thread?.createdAt;
}

function textOf(event: FeedEvent): string {
  const { message } = event;
  if (message?.type === "tool_use") return `uses ${message.name ?? "a tool"}`;
  if (message?.text) return `${message.role ?? "assistant"}: ${message.text.replace(/\s+/g, " ").slice(0, 200)}`;
  if (message) return message.type;
  return event.thread?.title || event.threadId;
}

// Runs that are under way, in whatever process.
function Running() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = onFeed(() => setTurn((count) => count + 1));
    const timer = setInterval(() => setTurn((count) => count + 1), 5000);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, []);
  const { data } = useData<{ runs: Run[] }>(
    (signal) => client.listRuns({ status: "running", limit: 50 }, { signal }),
    [Math.floor(turn / 3)],
  );
  if (!data || data.runs.length === 0) return null;
  return (
    <div class="running">
      <h2>At work now</h2>
      <ul>
        {data.runs.map((run) => (
          <li key={run.runId}>
            <span class="spinner" />
            <a href={threadLink(run.threadId)}>{run.agentId}</a>
            <span class="muted">
              since <Time at={run.startedAt ?? run.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

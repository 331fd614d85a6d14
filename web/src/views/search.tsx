import { useEffect, useRef, useState } from "preact/hooks";
import { agents, loadAgents } from "../lib/agents";
import { client, given } from "../lib/api";
import { count, plural } from "../lib/format";
import { plainText } from "../lib/markdown_text";
import { place, restate, threadLink } from "../lib/router";
import { useSignal } from "../lib/signal";
import type { SearchAnswer, SearchResult } from "../lib/types";
import { Command, Empty, Failure, Loading, Tag, Time } from "../ui/bits";
import { Icon } from "../ui/icons";
import { isTyping, useData, useEvent } from "../ui/use_data";

const kParts: Record<string, string> = {
  words: "words of the question, here and around",
  meaning: "the message means what was asked",
  surroundings: "together with the message before it",
  length: "a longer message says more",
  speaker: "said by whom the question is about",
  date: "said when the question says",
  recency: "of equals the later",
};

export function SearchView() {
  const { query } = useSignal(place);
  const known = useSignal(agents);
  const asked = query.get("q") ?? "";
  const agent = query.get("agent") ?? "";
  const [typed, setTyped] = useState(asked);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    void loadAgents();
    field.current?.focus();
  }, []);
  useEffect(() => setTyped(asked), [asked]);
  const { data, error, loading, again } = useData<SearchAnswer | undefined>(
    async (signal) => {
      if (asked === "") return undefined;
      return client.search({ q: asked, limit: 20, context: 2, ...given({ agentId: agent }) }, { signal });
    },
    [asked, agent],
  );
  const ask = (q: string, whose: string) => restate(["search"], { q, agent: whose });

  useEvent("keydown", (event) => {
    if (event.key === "/" && !isTyping(event)) {
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    } else if (event.key === "Escape" && event.target === field.current) field.current?.blur();
  });

  return (
    <section class="view" aria-label="Search">
      <h1>Search</h1>
      <form
        class="search-form"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          ask(typed.trim(), agent);
        }}
      >
        <div class="field-search large">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            dir="auto"
            value={typed}
            placeholder="What did we decide about retries?"
            aria-label="What to look for"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </div>
        <select
          class="field"
          aria-label="Whose conversations"
          value={agent}
          onChange={(event) => ask(typed.trim(), event.currentTarget.value)}
        >
          <option value="">All agents</option>
          {known.map((one) => (
            <option key={one.id} value={one.id}>
              {one.id}
            </option>
          ))}
        </select>
        <button type="submit" class="button primary">
          Search
        </button>
      </form>
      {error !== undefined && <Failure error={error} again={again} />}
      {loading && asked !== "" && !data && <Loading label="Searching" />}
      {asked === "" && (
        <Empty title="Find again what was said" icon="search">
          <p>Ask as you would ask a person: it is found by meaning and by words, and names and dates count.</p>
        </Empty>
      )}
      {data && asked !== "" && <Answer answer={data} />}
    </section>
  );
}

// What was searched: the agent, or how many of them.
function scope(answer: SearchAnswer): string {
  return answer.agentCount === 1 ? (answer.agents[0] ?? "") : plural(answer.agentCount, "agent");
}

function Answer({ answer }: { answer: SearchAnswer }) {
  const parts = [`${plural(answer.searched, "message")} of ${scope(answer)} searched`, `by ${answer.used.join(" and ") || "nothing yet"}`];
  if (answer.notIndexed > 0) parts.push(`${answer.notIndexedExact ? "" : "about "}${count(answer.notIndexed)} not indexed yet`);
  return (
    <>
      <p class="search-about" role="status">
        {plural(answer.results.length, "thread")} · {parts.join(" · ")}
      </p>
      {answer.note && <p class="muted sentence">{answer.note}</p>}
      {answer.results.length === 0 && (
        <Empty title="Nothing was found" icon="search">
          <p>Try other words, or another agent. What is not indexed yet cannot be found:</p>
          <p>
            <Command>skein backfill</Command>
          </p>
        </Empty>
      )}
      <ol class="hits">
        {answer.results.map((result) => (
          <li key={`${result.threadId}-${result.seq}`}>
            <Hit result={result} />
          </li>
        ))}
      </ol>
    </>
  );
}

const kMaxExcerpt = 600;
function excerpt(text: string): string {
  const shown = plainText(text.slice(0, kMaxExcerpt));
  return text.length > kMaxExcerpt ? `${shown} …` : shown;
}

function Hit({ result }: { result: SearchResult }) {
  return (
    <article class="hit">
      <header>
        <a class="hit-title" href={threadLink(result.threadId, result.seq)}>
          <bdi>{result.threadTitle || `Untitled ${result.threadId.slice(0, 6)}`}</bdi>
        </a>
        <Tag>{result.agentId}</Tag>
        <Time at={result.timestamp} />
      </header>
      <div class="hit-messages">
        {result.messages.map((message) => (
          <p key={message.seq} class={"hit-message" + (message.match ? " match" : "")} dir="auto">
            <a class="hit-role" href={threadLink(result.threadId, message.seq)}>
              {message.role}
              <span class="sr-only">, event {message.seq}</span>
            </a>
            {excerpt(message.text)}
          </p>
        ))}
      </div>
      <Why result={result} />
    </article>
  );
}

// The parts of a score, which add up to it.
function Why({ result }: { result: SearchResult }) {
  const counted = Object.entries(result.why).filter(([, value]) => value !== 0);
  const parts = counted.sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 0.01);
  return (
    <details class="why">
      <summary>Score {result.score.toFixed(2)}: how it came about</summary>
      <table>
        <tbody>
          {parts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="why-bar" aria-hidden="true">
                <span class={value < 0 ? "less" : ""} style={{ width: `${(Math.abs(value) / most) * 100}%` }} />
              </td>
              <td class="number">
                {value < 0 ? "−" : "+"}
                {Math.abs(value).toFixed(2)}
              </td>
              <td class="muted">{kParts[name] ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

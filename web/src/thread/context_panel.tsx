// The context window, drawn: what a model would see of this thread, and what became of the rest.
import { useEffect, useState } from "preact/hooks";
import { count, plural } from "../lib/format";
import { threadLink } from "../lib/router";
import { useSignal } from "../lib/signal";
import type { LedgerEntry, Strategy } from "../lib/types";
import { Failure, IconButton } from "../ui/bits";
import { useCalm } from "../ui/use_data";
import type { ThreadModel } from "./model";

const kSizes = [1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 200000];
const kWhat = { in: "In the window", summarised: "Summarised", left_out: "Left out" } as const;
const kStrategies: Record<Strategy, string> = {
  recent: "recent: the newest that fit",
  summary: "summary: old ones summarised",
  hybrid: "hybrid: summary, key ones, newest",
};

export function ContextPanel({ model, onClose }: { model: ThreadModel; onClose: () => void }) {
  const [size, setSize] = useState(3);
  const [strategy, setStrategy] = useState<Strategy>("hybrid");
  const window = useSignal(model.context);
  const error = useSignal(model.contextError);
  const maxTokens = useCalm(kSizes[size]!, 120);
  useEffect(() => void model.loadContext({ maxTokens, strategy }), [model, maxTokens, strategy]);
  useEffect(() => () => void model.loadContext(undefined), [model]);

  const sums = { in: 0, summarised: 0, left_out: 0 };
  for (const entry of window?.ledger ?? []) sums[entry.what] += entry.tokens;
  return (
    <aside class="context-panel" aria-label="Context window">
      <header class="panel-head">
        <h2>Context window</h2>
        <IconButton icon="close" label="Close the context window" onClick={onClose} />
      </header>
      <label class="slider">
        <span>
          At <strong>{count(kSizes[size]!)}</strong> tokens
        </span>
        <input
          type="range"
          min={0}
          max={kSizes.length - 1}
          value={size}
          aria-valuetext={`${count(kSizes[size]!)} tokens`}
          onInput={(event) => setSize(Number(event.currentTarget.value))}
        />
      </label>
      <label class="choice">
        Strategy
        <select value={strategy} onChange={(event) => setStrategy(event.currentTarget.value as Strategy)}>
          {Object.entries(kStrategies).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {error !== undefined && !window && <Failure error={error} />}
      {window && (
        <>
          <p class="window-sum" role="status">
            A model would see <strong>{plural(window.messages.length, "message")}</strong>,{" "}
            <strong>{count(window.tokens)}</strong> of {count(maxTokens)} tokens.
          </p>
          <div class="fill" aria-hidden="true">
            <span style={{ width: `${Math.min(100, (window.tokens / maxTokens) * 100)}%` }} />
          </div>
          <Strip ledger={window.ledger} last={model.last} />
          <ul class="legend">
            {(Object.keys(kWhat) as (keyof typeof kWhat)[]).map((what) => (
              <li key={what}>
                <span class={`swatch fate-${what}`} /> {kWhat[what]}
                <span class="muted">{count(sums[what])} tokens</span>
              </li>
            ))}
          </ul>
          <h3>What became of each event</h3>
          <ol class="ledger">
            {window.ledger.slice(0, 400).map((entry, index) => (
              <LedgerLine key={index} entry={entry} thread={model.id} />
            ))}
          </ol>
          {window.ledger.length > 400 && <p class="muted">{count(window.ledger.length - 400)} further entries.</p>}
        </>
      )}
    </aside>
  );
}

// The whole thread from its first event to its last.
function Strip({ ledger, last }: { ledger: LedgerEntry[]; last: number }) {
  const part = (events: number) => `${(events / Math.max(last, 1)) * 100}%`;
  return (
    <div class="strip-box">
      <svg class="strip" role="img" aria-label="The thread, from its first event to its last">
        <defs>
          <pattern id="hatched" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="4" height="7" class="hatch" />
          </pattern>
        </defs>
        {ledger.map((entry, index) =>
          entry.from === undefined || entry.to === undefined ? null : (
            <rect key={index} class={`fate-${entry.what}`} x={part(entry.from - 1)} width={part(entry.to - entry.from + 1)} height="100%" />
          ),
        )}
      </svg>
      <span class="strip-ends" aria-hidden="true">
        <span>1</span>
        <span>{count(last)}</span>
      </span>
    </div>
  );
}

function LedgerLine({ entry, thread }: { entry: LedgerEntry; thread: string }) {
  const { from, to } = entry;
  const place = from === undefined ? "for this window" : from === to ? String(from) : `${from}–${to}`;
  return (
    <li>
      <span class={`swatch fate-${entry.what}`} />
      {from === undefined ? <span>{place}</span> : <a href={threadLink(thread, from)}>{place}</a>}
      <span class="ledger-why">
        {kWhat[entry.what].toLowerCase()}: {entry.why}
      </span>
      <span class="muted">
        {entry.estimated ? "~" : ""}
        {count(entry.tokens)}
      </span>
    </li>
  );
}

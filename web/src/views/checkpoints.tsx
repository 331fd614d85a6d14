import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { client, given } from "../lib/api";
import { clock, day, plural } from "../lib/format";
import { link } from "../lib/router";
import type { CheckpointEntry, Drift, ResumedCheckpoint } from "../lib/types";
import { Command, CopyButton, Empty, Failure, Loading, Tag } from "../ui/bits";
import { Icon } from "../ui/icons";
import { useCalm, useData } from "../ui/use_data";

const kKinds: Record<string, string> = { checkpoint: "Checkpoint", "auto-checkpoint": "Automatic", handoff: "Handoff" };

export function CheckpointsView({ open }: { open: string | undefined }) {
  const [words, setWords] = useState("");
  const [automatic, setAutomatic] = useState(true);
  const q = useCalm(words.trim(), 250);
  const { data, error, loading, again } = useData<{ checkpoints: CheckpointEntry[] }>(
    (signal) => client.listCheckpoints({ ...given({ q }), limit: 200 }, { signal }),
    [q],
  );
  const shown = (data?.checkpoints ?? []).filter((one) => automatic || one.type !== "auto-checkpoint");
  const days = new Map<string, CheckpointEntry[]>();
  for (const one of shown) {
    const name = day(one.created_at);
    days.set(name, [...(days.get(name) ?? []), one]);
  }
  return (
    <section class="view" aria-label="Checkpoints">
      <h1>Checkpoints</h1>
      <p class="muted">Where work stood, and how far the repository has moved since.</p>
      <div class="toolbar">
        <div class="field-search">
          <Icon name="search" size={16} />
          <input
            type="search"
            value={words}
            placeholder="Words or the beginning of them"
            aria-label="Find checkpoints"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </div>
        <label class="check">
          <input type="checkbox" checked={automatic} onChange={(event) => setAutomatic(event.currentTarget.checked)} />
          automatic ones too
        </label>
      </div>
      {error !== undefined && <Failure error={error} again={again} />}
      {!data && loading && <Loading label="Loading checkpoints" />}
      {data && shown.length === 0 && (
        <Empty title={q ? "No checkpoint matches" : "No checkpoints yet"} icon="checkpoints">
          <p>A checkpoint writes down where work stands: branch, commits, files, next steps.</p>
          <p>
            <Command>skein checkpoint parser-rewrite --summary "Lexer done, parser half"</Command>
          </p>
        </Empty>
      )}
      <ol class="timeline">
        {[...days].map(([name, entries]) => (
          <li key={name} class="timeline-day">
            <h2>{name}</h2>
            <ol>
              {entries.map((entry) => (
                <li key={entry.thread_id}>
                  <Entry entry={entry} open={entry.thread_id === open} />
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Entry({ entry, open }: { entry: CheckpointEntry; open: boolean }) {
  return (
    <article class={`checkpoint checkpoint-${entry.type}${open ? " open" : ""}`}>
      <span class="dot" aria-hidden="true" />
      <header>
        <a href={open ? link(["checkpoints"]) : link(["checkpoints", entry.thread_id])} aria-expanded={open}>
          <bdi>{entry.title || entry.thread_id}</bdi>
        </a>
        <span class="kind">{kKinds[entry.type] ?? entry.type}</span>
        <time dateTime={entry.created_at}>{clock(entry.created_at)}</time>
      </header>
      <p class="checkpoint-about">
        {entry.branch && (
          <span>
            <Icon name="fork" size={14} /> <bdi>{entry.branch}</bdi>
          </span>
        )}
        {entry.current_commit && (
          <span>
            <Icon name="commit" size={14} /> <code>{entry.current_commit.slice(0, 10)}</code>
          </span>
        )}
        {entry.worker && (
          <span>
            {entry.worker}
            {entry.worker_state ? `, ${entry.worker_state}` : ""}
          </span>
        )}
        {entry.next_steps > 0 && <span>{plural(entry.next_steps, "next step")}</span>}
        {entry.tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </p>
      {!open && entry.conversation_summary && (
        <p class="checkpoint-summary" dir="auto">
          {entry.conversation_summary.slice(0, 240)}
        </p>
      )}
      {open && <Details id={entry.thread_id} />}
    </article>
  );
}

function Details({ id }: { id: string }) {
  const { data, error, loading, again } = useData<ResumedCheckpoint>(
    async (signal) => (await client.resumeCheckpoint(id, { signal })) as unknown as ResumedCheckpoint,
    [id],
  );
  useEffect(() => document.querySelector(".checkpoint.open")?.scrollIntoView({ block: "nearest" }), [data]);
  if (error !== undefined) return <Failure error={error} again={again} />;
  if (!data) return loading ? <Loading label="Comparing with the repository" /> : null;
  const { checkpoint, drift, project, open_items } = data;
  const git = checkpoint.git;
  return (
    <div class="checkpoint-details">
      <p class="checkpoint-summary" dir="auto">
        {checkpoint.conversation_summary}
      </p>
      <DriftCard drift={drift} />
      <div class="facts">
        {git && (
          <Facts title="Git then">
            <li>
              branch <code>{git.branch ?? "unknown"}</code>, at <code>{git.current_commit?.slice(0, 10) ?? "no commit"}</code>
              {git.dirty ? ", with changes that were not committed" : ""}
            </li>
            {(git.commits_made ?? []).map((commit) => (
              <li key={commit}>
                <bdi>{commit}</bdi>
              </li>
            ))}
          </Facts>
        )}
        {(checkpoint.next_steps?.length ?? 0) > 0 && (
          <Facts title="Next steps">
            {checkpoint.next_steps!.map((step) => (
              <li key={step} dir="auto">
                {step}
              </li>
            ))}
          </Facts>
        )}
        {checkpoint.files_touched.length > 0 && (
          <Facts title="Files touched">
            {checkpoint.files_touched.slice(0, 40).map((file) => (
              <li key={file}>
                <code>{file}</code>
              </li>
            ))}
          </Facts>
        )}
        {open_items.length > 0 && (
          <Facts title={project === undefined ? "Open items" : `Open items of project ${project}`} wide>
            {open_items.slice(0, 20).map((item) => (
              <li key={item.id} dir="auto">
                {item.text}
              </li>
            ))}
          </Facts>
        )}
      </div>
      <p class="checkpoint-id">
        <code>skein resume {id}</code>
        <CopyButton text={() => data.prompt} label="Copy what whoever continues needs to know" />
      </p>
    </div>
  );
}

function Facts({ title, wide, children }: { title: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <div class={wide ? "wide" : ""}>
      <h3>{title}</h3>
      <ul>{children}</ul>
    </div>
  );
}

// How far the repository has moved since.
function DriftCard({ drift }: { drift: Drift }) {
  if (drift.unknown) return <p class="drift unknown">How far things moved is not known: {drift.unknown}</p>;
  if (drift.none) return <p class="drift none">Nothing has moved since: the repository is as it was.</p>;
  const facts: string[] = [];
  if (drift.branch_then !== drift.branch_now) facts.push(`the branch is ${drift.branch_now}, and was ${drift.branch_then}`);
  if (drift.commit_missing) facts.push(`the commit ${drift.commit_then} is not there any more`);
  if (drift.commits_since) facts.push(`${plural(drift.commits_since, "commit")} since`);
  if (drift.commits_left) facts.push(`${plural(drift.commits_left, "commit")} of then are not in what is checked out`);
  if (drift.changed_files?.length) facts.push(`${plural(drift.changed_files.length, "file")} of this checkpoint changed`);
  if (drift.dirty) facts.push("there are changes that are not committed");
  return (
    <div class="drift moved">
      <p>
        <strong>Drift:</strong> {facts.join("; ")}.
      </p>
      {(drift.new_commits?.length ?? 0) > 0 && (
        <ul>
          {drift.new_commits!.slice(0, 8).map((commit) => (
            <li key={commit}>
              <bdi>{commit}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import { client, messageOf } from "../lib/api";
import type { Item, ItemList } from "../lib/types";
import { Command, Dialog, Empty, Failure, Loading, Tag, Time } from "../ui/bits";
import { Icon } from "../ui/icons";
import { useData } from "../ui/use_data";
import { LinkList } from "./links";

const kMeans: Record<string, string> = {
  emerging: "new, touched rarely so far",
  active: "touched often and lately",
  cooling: "not touched for a while",
  dormant: "long untouched",
};

export function ItemsView() {
  const [status, setStatus] = useState<"open" | "resolved">("open");
  const [resolving, setResolving] = useState<Item | undefined>();
  const [making, setMaking] = useState(false);
  const { data, error, loading, again } = useData<ItemList>(
    (signal) => client.listItems({ status }, { signal }),
    [status],
  );
  const items = [...(data?.items ?? [])].sort((a, b) => b.vitality.value - a.vitality.value);
  return (
    <section class="view" aria-label="Work items">
      <div class="view-head">
        <div>
          <h1>Work items</h1>
          <p class="muted">What is still open from one working session to the next, the liveliest first.</p>
        </div>
        <button type="button" class="button primary" onClick={() => setMaking(true)}>
          <Icon name="plus" size={16} /> New
        </button>
      </div>
      <div class="segments" role="group" aria-label="Status">
        {(["open", "resolved"] as const).map((one) => (
          <button key={one} type="button" aria-pressed={status === one} onClick={() => setStatus(one)}>
            {one}
            {data && <span class="segment-count">{one === "open" ? data.total_open : data.total_resolved}</span>}
          </button>
        ))}
      </div>
      {error !== undefined && <Failure error={error} again={again} />}
      {!data && loading && <Loading label="Loading items" />}
      {data && items.length === 0 && (
        <Empty title={status === "open" ? "Nothing is open" : "Nothing was resolved lately"} icon="items">
          <p>What should survive the end of a session becomes an item:</p>
          <p>
            <Command>skein item create "Package name still undecided"</Command>
          </p>
        </Empty>
      )}
      <ul class="items">
        {items.map((item) => (
          <li key={item.id} class="item">
            <Vitality item={item} />
            <div class="item-main">
              <p class="item-text" dir="auto">
                {item.text}
              </p>
              <p class="item-about">
                <code>{item.id}</code>
                {item.project && <Tag>{item.project}</Tag>}
                <span>
                  opened <Time at={item.created_at} /> {item.opened_by && <LinkList links={item.opened_by} />}
                </span>
                {item.resolved_at && (
                  <span>
                    resolved <Time at={item.resolved_at} /> {item.closed_by && <LinkList links={item.closed_by} />}
                  </span>
                )}
              </p>
              {item.resolution_note && (
                <p class="item-note" dir="auto">
                  {item.resolution_note}
                </p>
              )}
            </div>
            {item.status === "open" && (
              <button
                type="button"
                class="button"
                aria-label={`Resolve ${item.id}: ${item.text.slice(0, 80)}`}
                onClick={() => setResolving(item)}
              >
                <Icon name="check" size={16} /> Resolve
              </button>
            )}
          </li>
        ))}
      </ul>
      {resolving && (
        <Resolve
          item={resolving}
          onClose={(done) => {
            setResolving(undefined);
            if (done) again();
          }}
        />
      )}
      {making && (
        <Create
          onClose={(done) => {
            setMaking(false);
            if (done) again();
          }}
        />
      )}
    </section>
  );
}

function Vitality({ item }: { item: Item }) {
  const { value, state } = item.vitality;
  const percent = Math.round(value * 100);
  const words = `${state}: ${kMeans[state] ?? ""} (${percent} of 100)`;
  return (
    <div class={`vitality vitality-${state}`} title={words}>
      <span class="vitality-bar" aria-hidden="true">
        <span style={{ height: `${Math.max(percent, 4)}%` }} />
      </span>
      <span class="vitality-state">
        {state}
        <span class="sr-only">, {percent} of 100</span>
      </span>
    </div>
  );
}

function Resolve({ item, onClose }: { item: Item; onClose: (done: boolean) => void }) {
  const resolve = (note: string) =>
    client.resolveItem(item.id, note ? { resolution_note: note } : {});
  return (
    <Ask title="Resolve this item" label="Note" placeholder="How it was settled" action="Resolve" work={resolve} onClose={onClose}>
      {item.text}
    </Ask>
  );
}

function Create({ onClose }: { onClose: (done: boolean) => void }) {
  const create = (text: string) => client.createItem({ text });
  return (
    <Ask title="New work item" label="What is open" placeholder="Package name still undecided" action="Create" needed work={create} onClose={onClose} />
  );
}

// Asks for one text and does something with it.
function Ask(props: {
  title: string;
  label: string;
  placeholder: string;
  action: string;
  needed?: boolean;
  work: (text: string) => Promise<unknown>;
  onClose: (done: boolean) => void;
  children?: string;
}) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const work = async () => {
    try {
      await props.work(text.trim());
      props.onClose(true);
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  return (
    <Dialog title={props.title} onClose={() => props.onClose(false)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void work();
        }}
      >
        {props.children && (
          <p class="item-text" dir="auto">
            {props.children}
          </p>
        )}
        <label>
          {props.label}
          <textarea
            rows={3}
            dir="auto"
            value={text}
            placeholder={props.placeholder}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {error && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <div class="form-actions">
          <button type="submit" class="button primary" disabled={props.needed === true && text.trim() === ""}>
            {props.action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}


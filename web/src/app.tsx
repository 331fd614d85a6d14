import { useEffect, useRef, useState } from "preact/hooks";
import { client, hasKey, locked, messageOf, reached, setKey } from "./lib/api";
import { following, openFeed } from "./lib/feed";
import { place } from "./lib/router";
import { useSignal } from "./lib/signal";
import { nextTheme, theme } from "./lib/theme";
import { ThreadView } from "./thread/view";
import { threadList } from "./threads/store";
import { ThreadsView } from "./threads/view";
import { Dialog, Empty, IconButton } from "./ui/bits";
import { Icon, type IconName } from "./ui/icons";
import { isTyping, useEvent } from "./ui/use_data";
import { CheckpointsView } from "./views/checkpoints";
import { ItemsView } from "./views/items";
import { LiveView } from "./views/live";
import { SearchView } from "./views/search";
import { UsageView } from "./views/usage";

const kViews: { name: string; title: string; icon: IconName }[] = [
  { name: "threads", title: "Threads", icon: "threads" },
  { name: "search", title: "Search", icon: "search" },
  { name: "items", title: "Items", icon: "items" },
  { name: "checkpoints", title: "Checkpoints", icon: "checkpoints" },
  { name: "usage", title: "Usage", icon: "usage" },
  { name: "live", title: "Live", icon: "live" },
];

export function App() {
  const isLocked = useSignal(locked);
  const { path } = useSignal(place);
  const [help, setHelp] = useState(false);
  const view = path[0] === undefined ? "threads" : path[0] === "thread" ? "threads" : path[0];

  useEffect(() => {
    if (isLocked) return;
    return openFeed();
  }, [isLocked]);
  useEffect(() => {
    if (path[0] === "thread") return;
    const title = kViews.find((one) => one.name === view)?.title;
    document.title = title ? `${title} · Skein` : "Skein";
  }, [view, path[0]]);
  useEvent("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = kViews[Number(event.key) - 1];
    if (chosen) location.hash = `#/${chosen.name}`;
    else if (event.key === "?") setHelp(true);
    else return;
    event.preventDefault();
  });

  if (isLocked) return <KeyEntry />;
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <Navigation view={view} onHelp={() => setHelp(true)} />
      <main id="main" tabIndex={-1} class={`main view-${view}`}>
        <View view={view} path={path} />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function View({ view, path }: { view: string; path: string[] }) {
  switch (view) {
    case "threads": {
      const id = path[0] === "thread" ? path[1] : undefined;
      const seq = Number(path[2]);
      return (
        <div class={"split" + (id === undefined ? "" : " open")}>
          <ThreadsView open={id} />
          {id === undefined ? (
            <div class="split-rest">
              <Empty title="Choose a thread" icon="threads">
                <p>
                  <kbd>↑</kbd> <kbd>↓</kbd> choose, <kbd>Enter</kbd> opens, <kbd>/</kbd> filters, <kbd>?</kbd> tells more.
                </p>
              </Empty>
            </div>
          ) : (
            <ThreadView key={id} id={id} seq={Number.isInteger(seq) && seq > 0 ? seq : undefined} />
          )}
        </div>
      );
    }
    case "search":
      return <SearchView />;
    case "items":
      return <ItemsView />;
    case "checkpoints":
      return <CheckpointsView open={path[1]} />;
    case "usage":
      return <UsageView />;
    case "live":
      return <LiveView />;
    default:
      return (
        <section class="view">
          <Empty title="There is nothing here" icon="help">
            <p>
              <a class="button" href="#/threads">
                All threads
              </a>
            </p>
          </Empty>
        </section>
      );
  }
}

function Navigation({ view, onHelp }: { view: string; onHelp: () => void }) {
  const chosen = useSignal(theme);
  const icon: IconName = chosen === "auto" ? "auto" : chosen === "light" ? "sun" : "moon";
  return (
    <nav class="nav" aria-label="Views">
      <a class="brand" href="#/threads" aria-label="Skein, all threads">
        <svg width="28" height="28" viewBox="0 0 32 32" fill="none" stroke-width="2.6" stroke-linecap="round" aria-hidden="true">
          <path d="M6 11c5-6 15-6 20 0M6 21c5 6 15 6 20 0M6 11c5 6 15 4 20 10M26 11c-5 6-15 4-20 10" stroke="currentColor" />
        </svg>
        <span>Skein</span>
      </a>
      <ul>
        {kViews.map((one, index) => (
          <li key={one.name}>
            <a href={`#/${one.name}`} aria-current={one.name === view ? "page" : undefined} aria-keyshortcuts={String(index + 1)}>
              <Icon name={one.icon} />
              <span>{one.title}</span>
            </a>
          </li>
        ))}
      </ul>
      <div class="nav-foot">
        <Connection />
        <span class="nav-buttons">
          <IconButton icon={icon} label={`Colours: ${chosen}`} onClick={nextTheme} />
          <IconButton icon="help" label="Keyboard and help" onClick={onHelp} />
          {hasKey() && (
            <IconButton
              icon="key"
              label="Forget the key"
              onClick={() => {
                setKey("");
                location.reload();
              }}
            />
          )}
        </span>
      </div>
    </nav>
  );
}

function Connection() {
  const isReached = useSignal(reached);
  const isLive = useSignal(following);
  const words = !isReached ? "Reconnecting…" : isLive ? "Live" : "Connecting…";
  return (
    <span class={"connection" + (!isReached ? " lost" : isLive ? " live" : "")} role="status">
      <span class="dot" aria-hidden="true" /> <span>{words}</span>
    </span>
  );
}

function KeyEntry() {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const enter = async () => {
    setKey(typed.trim());
    try {
      await client.listThreads({ limit: 1 });
      locked.set(false);
      threadList.restart();
    } catch (problem) {
      setKey("");
      setError(messageOf(problem));
    }
  };
  return (
    <main class="key-entry">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <Icon name="key" size={32} />
        <h1>This server needs a key</h1>
        <p class="muted">
          Whoever runs it makes one with <code>skein key create</code>. It is kept until this tab is closed, and sent to this
          server only.
        </p>
        <label>
          Key
          <input
            ref={field}
            type="password"
            autocomplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        {error && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="button primary" disabled={typed.trim() === ""}>
          Enter
        </button>
      </form>
    </main>
  );
}

const kKeys: [string[], string][] = [
  [["1", "…", "6"], "go to a view"],
  [["/"], "filter threads, or search"],
  [["↑", "↓"], "choose a thread"],
  [["Enter"], "open it"],
  [["Esc"], "go back"],
  [["n"], "new thread"],
  [["r"], "write a message"],
  [["w"], "draw the context window"],
  [["Home", "End"], "first, newest message"],
];

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {kKeys.map(([keys, words]) => (
          <div key={words}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        The interface that this page uses is described at <a href="/docs">/docs</a>. Parts of others in it:{" "}
        <a href="/licences.txt">licences</a>.
      </p>
    </Dialog>
  );
}

// The client's streams. They come again after the server went away for as long as the page is open,
// from the last durable event on; and are silent while nobody looks at the page, so that many tabs do
// not use up the browser's connections.
import { Refusal, clientOnce, locked, reached, type ServerEvent, type SkeinClient } from "./api";

export interface StreamOptions {
  open: (client: SkeinClient, options: { signal: AbortSignal; lastEventId?: string }) => AsyncIterable<ServerEvent>;
  // Ended by the server, and nothing will follow.
  onEnd?: () => void;
  // Refused for good: it does not come again.
  onRefused?: (refusal: Refusal) => void;
  // The connection stands; again after each interruption.
  onOpen?: (again: boolean) => void;
  onEvent: (event: ServerEvent) => void;
}

const kFirstPauseMs = 250;
const kLongestPauseMs = 4000;

// Returns what stops it.
export function openStream(options: StreamOptions): () => void {
  let lastId: string | undefined;
  let stopped = false;
  let again = false;
  let pause = kFirstPauseMs;
  let cut = new AbortController();
  let wake: () => void = () => {};

  const onVisible = () => {
    if (document.hidden) cut.abort();
    else wake();
  };

  const attempt = async (): Promise<boolean> => {
    cut = new AbortController();
    const client = clientOnce(() => {
      options.onOpen?.(again);
      again = true;
      pause = kFirstPauseMs;
    });
    const from = { signal: cut.signal, ...(lastId ? { lastEventId: lastId } : {}) };
    for await (const event of options.open(client, from)) {
      if (event.id) lastId = event.id;
      if (!stopped) options.onEvent(event);
    }
    return true;
  };

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (ms > 0) setTimeout(resolve, ms);
    });

  const loop = async () => {
    while (!stopped) {
      if (document.hidden) {
        await rest(0);
        continue;
      }
      try {
        if (await attempt()) {
          if (stopped) return;
          if (options.onEnd) return options.onEnd();
        }
      } catch (error) {
        if (stopped) return;
        if (error instanceof Refusal && error.status === 401) locked.set(true);
        const refused = error instanceof Refusal && error.status >= 400 && error.status < 500;
        if (refused && error.status !== 429) return options.onRefused?.(error);
        if (!document.hidden && !(error instanceof Refusal)) reached.set(false);
      }
      if (stopped) return;
      if (document.hidden) continue;
      await rest(pause);
      pause = Math.min(pause * 2, kLongestPauseMs);
    }
  };

  document.addEventListener("visibilitychange", onVisible);
  void loop();
  return () => {
    stopped = true;
    document.removeEventListener("visibilitychange", onVisible);
    cut.abort();
    wake();
  };
}

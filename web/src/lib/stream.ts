// Server-sent events over fetch, which takes a key where EventSource takes none. Comes again after
// the server went away, from the last durable event on; is silent while nobody looks at the page,
// so that many tabs do not use up the browser's connections.
import { Refusal, reached, send } from "./api";
import { SseReader, type StreamEvent } from "./sse";

export interface StreamOptions {
  url: () => string;
  lastId?: string;
  // Ended by the server, and nothing will follow.
  onEnd?: () => void;
  // Refused for good: it does not come again.
  onRefused?: (refusal: Refusal) => void;
  // The connection stands; again after each interruption.
  onOpen?: (again: boolean) => void;
  onEvent: (event: StreamEvent) => void;
}

const kFirstPauseMs = 250;
const kLongestPauseMs = 4000;

// Returns what stops it.
export function openStream(options: StreamOptions): () => void {
  let lastId = options.lastId ?? "";
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
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (lastId) headers["Last-Event-ID"] = lastId;
    const response = await send("GET", options.url(), { headers, signal: cut.signal });
    options.onOpen?.(again);
    again = true;
    pause = kFirstPauseMs;
    const reader = new SseReader((event) => {
      if (event.id) lastId = event.id;
      if (!stopped) options.onEvent(event);
    });
    const bytes = response.body!.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await bytes.read();
      if (done) return true;
      reader.take(decoder.decode(value, { stream: true }));
    }
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

// What happens on the server, for whoever listens: one stream for all views.
import { Signal } from "./signal";
import { openStream } from "./stream";
import type { FeedEvent } from "./types";

const kKept = 300;

export const recent = new Signal<FeedEvent[]>([]); // the latest first
export const following = new Signal(false);

const listeners = new Set<(event: FeedEvent) => void>();
const comebacks = new Set<() => void>();

export function onFeed(listener: (event: FeedEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// The server was away, and is back.
export function onComeback(listener: () => void): () => void {
  comebacks.add(listener);
  return () => comebacks.delete(listener);
}

export function openFeed(): () => void {
  const stop = openStream({
    open: (client, options) => client.streamChanges({}, options),
    onOpen: (again) => {
      following.set(true);
      if (again) for (const listener of [...comebacks]) listener();
    },
    onRefused: () => following.set(false),
    onEvent: ({ data }) => {
      const event = data as FeedEvent;
      recent.set([event, ...recent.value].slice(0, kKept));
      for (const listener of [...listeners]) listener(event);
    },
  });
  return () => {
    following.set(false);
    stop();
  };
}

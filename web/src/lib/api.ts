// The client of /v1, for the server that the page came from, with the key that one entered.
import { SkeinClient, SkeinError as Refusal, type ServerEvent } from "../../../clients/typescript/src/client";
import { Signal } from "./signal";

export { Refusal, type ServerEvent, type SkeinClient };

const kKey = "skein.key";

// Whether the server wants a key that we do not have.
export const locked = new Signal(false);
// Whether requests reach the server.
export const reached = new Signal(true);

export function setKey(key: string): void {
  if (key) sessionStorage.setItem(kKey, key);
  else sessionStorage.removeItem(kKey);
}

export function hasKey(): boolean {
  return sessionStorage.getItem(kKey) !== null;
}

// The key may change while the page is open. A server that is not reached is a Refusal of status 0.
const ask: typeof fetch = async (url, init) => {
  const headers = new Headers(init?.headers);
  const key = sessionStorage.getItem(kKey);
  if (key) headers.set("Authorization", "Bearer " + key);
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, cache: "no-store" });
  } catch (error) {
    if (init?.signal?.aborted) throw error;
    reached.set(false);
    throw new Refusal(0, "unreachable", "The server cannot be reached.");
  }
  reached.set(true);
  if (response.status === 401) locked.set(true);
  return response;
};

// Answers that are no success are thrown as a Refusal.
export const client = new SkeinClient({ fetch: ask });

// For one stream over one connection: whether it comes again is up to the caller.
export function clientOnce(onOpen: () => void): SkeinClient {
  const fetchOnce: typeof fetch = async (url, init) => {
    const response = await ask(url, init);
    if (response.ok) onOpen();
    return response;
  };
  return new SkeinClient({ fetch: fetchOnce, reconnects: 0 });
}

// What of a form was filled in.
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], "" | undefined> } {
  const filled = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(filled) as { [K in keyof T]?: Exclude<T[K], "" | undefined> };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

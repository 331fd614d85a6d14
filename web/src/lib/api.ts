// Requests to the server that the page came from, with the key that one entered.
import { Signal } from "./signal";

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

export class Refusal extends Error {
  constructor(
    readonly status: number, // 0: the server was not reached
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export function address(path: string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return "/v1/" + path.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

export interface Options {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

// Answers that are no success are thrown as a Refusal.
export async function send(method: string, url: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  const key = sessionStorage.getItem(kKey);
  if (key) headers["Authorization"] = "Bearer " + key;
  const init: RequestInit = { method, headers, cache: "no-store" };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    reached.set(false);
    throw new Refusal(0, "unreachable", "The server cannot be reached.");
  }
  reached.set(true);
  if (response.ok) return response;
  if (response.status === 401) locked.set(true);
  throw await refusalOf(response);
}

async function refusalOf(response: Response): Promise<Refusal> {
  try {
    const problem = (await response.json()) as { code?: string; detail?: string; title?: string };
    const said = problem.detail ?? problem.title ?? response.statusText;
    return new Refusal(response.status, problem.code ?? "", said);
  } catch {
    return new Refusal(response.status, "", response.statusText || `HTTP ${response.status}`);
  }
}

export async function get<T>(path: string[], query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await send("GET", address(path, query), signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function post<T>(path: string[], body?: unknown, query: Query = {}): Promise<T> {
  const response = await send("POST", address(path, query), body === undefined ? {} : { body });
  return (await response.json()) as T;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// A client for /v1: the operations of api.ts over fetch, with keys, errors and streams that resume.
import { Operations, type Call, type CallOptions, type Problem, type ServerEvent } from "./api.js";
import { readEvents } from "./events.js";

export * from "./api.js";

export interface ClientOptions {
  /** Where the server is. In a page that it serves itself: leave it out. */
  baseUrl?: string;
  /** What `skein key create` printed. */
  key?: string;
  /** Instead of the global one. */
  fetch?: typeof fetch;
  /** How often a stream that broke off is opened again before it fails. */
  reconnects?: number;
  /** How long to wait before the first time, in milliseconds; it doubles, up to 5 s. */
  reconnectMs?: number;
}

/** The server refused, and says why. */
export class SkeinError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly problem?: Problem,
  ) {
    super(detail);
    this.name = "SkeinError";
  }
}

export class SkeinClient extends Operations {
  readonly #options: Required<Pick<ClientOptions, "baseUrl" | "reconnects" | "reconnectMs">> & ClientOptions;

  constructor(options: ClientOptions = {}) {
    super();
    this.#options = {
      reconnects: 30,
      reconnectMs: 100,
      ...options,
      baseUrl: (options.baseUrl ?? "").replace(/\/+$/, ""),
    };
  }

  protected async send<T>(call: Call, options: CallOptions): Promise<T> {
    const response = await this.#fetch(call, options, "application/json");
    if (response.status === 204) return undefined as T;
    return (await response.json()) as T;
  }

  /**
   * Goes on after a broken connection from the last id that was seen, so that nothing is missed and
   * nothing seen twice. Ends when the server ends it.
   */
  protected async *open(call: Call, options: CallOptions): AsyncIterable<ServerEvent> {
    let lastId: string | undefined;
    let broken = 0;
    while (true) {
      const headers = { ...call.headers, ...(lastId === undefined ? {} : { "Last-Event-ID": lastId }) };
      try {
        const response = await this.#fetch({ ...call, headers }, options, "text/event-stream");
        for await (const event of readEvents(response)) {
          broken = 0;
          if (event.event === "error") throw problemError(event.data as Problem);
          if (event.id !== undefined) lastId = event.id;
          yield event;
        }
        return;
      } catch (error) {
        const final = error instanceof SkeinError && error.status !== 503;
        if (final || options.signal?.aborted || broken >= this.#options.reconnects) throw error;
        await pause(Math.min(5000, this.#options.reconnectMs * 2 ** broken), options.signal);
        broken += 1;
      }
    }
  }

  async #fetch(call: Call, options: CallOptions, accept: string): Promise<Response> {
    const headers = new Headers({ Accept: accept });
    if (this.#options.key) headers.set("Authorization", `Bearer ${this.#options.key}`);
    if (call.body !== undefined) headers.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value !== undefined) headers.set(name, value);
    }
    const url = this.#options.baseUrl + call.path + queryOf(call.query);
    const response = await (this.#options.fetch ?? fetch)(url, {
      method: call.method,
      headers,
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: options.signal ?? null,
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

function queryOf(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

function problemError(problem: Problem): SkeinError {
  return new SkeinError(problem.status, problem.code, problem.detail, problem);
}

async function errorOf(response: Response): Promise<SkeinError> {
  const text = await response.text();
  try {
    return problemError(JSON.parse(text) as Problem);
  } catch {
    return new SkeinError(response.status, "unknown", text || response.statusText);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

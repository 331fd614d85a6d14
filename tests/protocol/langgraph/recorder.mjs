// Calls a server through the SDK, and notes what came back: for each call the status of each
// request, the headers that the SDK reads, and the shape of the result or the error.
import { Client } from "@langchain/langgraph-sdk";
import { shape } from "./shape.mjs";

const TOLD = ["content-location", "x-pagination-next", "x-pagination-total"];
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

export class Recorder {
  constructor(apiUrl) {
    this.lines = [];
    this.requests = [];
    const noted = async (...request) => {
      const response = await fetch(...request);
      const headers = {};
      for (const name of TOLD) {
        const value = response.headers.get(name);
        if (value !== null) headers[name] = value.replace(UUIDS, "<id>");
      }
      const type = (response.headers.get("content-type") ?? "").split(";")[0];
      if (response.status >= 400 || type === "text/event-stream") headers.type = type;
      this.requests.push({ status: response.status, ...headers });
      return response;
    };
    this.client = new Client({
      apiUrl,
      apiKey: null,
      callerOptions: { fetch: noted, maxRetries: 0 },
    });
    this.apiUrl = apiUrl;
  }

  // `view` makes of a result what is compared; without it, the result itself.
  async call(name, make, view = (result) => result) {
    if (process.env.TRACE) console.error(name);
    this.requests = [];
    const line = { call: name };
    let result;
    try {
      result = await make(this.client);
      line.requests = [...this.requests];
      line.result = shape(view(result));
    } catch (error) {
      line.requests = [...this.requests];
      line.error = error.status ?? error.name;
      const text = String(error.text ?? error.message);
      line.says = text.startsWith("{") ? Object.keys(JSON.parse(text)).sort() : "text";
    }
    this.lines.push(line);
    return result;
  }

  // The frames of a stream, as they come, up to `enough` of them.
  async stream(name, make, { enough = Infinity, view = frames } = {}) {
    return this.call(
      name,
      async (client) => {
        const seen = [];
        for await (const frame of make(client)) {
          seen.push(frame);
          if (seen.length >= enough) break;
        }
        return seen;
      },
      view,
    );
  }
}

// The last frame of each kind; of values, the newest message.
export function frames(seen) {
  const kinds = new Map(seen.map((frame) => [frame.event, frame.data]));
  return [...kinds].map(([event, data]) => ({
    event,
    last: event === "values" ? { ...data, messages: data.messages.slice(-1) } : data,
  }));
}

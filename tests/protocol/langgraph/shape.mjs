// The normal form in which answers of two servers are compared: what is there and of which kind,
// without what differs from run to run.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

// Objects whose members are the caller's or the server's own affair.
const OPEN = new Set([
  "additional_kwargs", "config", "configurable", "context", "flags", "kwargs", "metadata",
  "response_metadata", "responseMetadata",
]);

// Strings that are part of the protocol, and therefore compared as they are.
const SAID = new Set([
  "checkpoint_ns", "content", "error", "event", "graph_id", "key", "method", "multitask_strategy",
  "name", "next", "node", "role", "source", "status", "text", "type",
]);

// What one class of the reference adds to a message, and another does not.
const UNSAID = new Set(["tool_call_chunks", "usage_metadata"]);

function of(value, name) {
  if (name === "description") return "text or null";
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) {
    const kinds = new Set(value.map((item) => JSON.stringify(of(item, name))));
    return [...kinds].sort().map((kind) => JSON.parse(kind));
  }
  if (typeof value === "object") {
    if (OPEN.has(name)) return "object";
    const members = Object.keys(value).filter((member) => !UNSAID.has(member));
    return Object.fromEntries(members.sort().map((member) => [member, of(value[member], member)]));
  }
  if (name === "status" && typeof value === "number") return `=${value}`;
  if (typeof value !== "string") return typeof value;
  if (SAID.has(name)) return "=" + value;
  if (name === "id" || name === "parent_id") return "id";
  if (UUID.test(value)) return "uuid";
  if (TIME.test(value)) return "time";
  return "string";
}

export function shape(value) {
  return of(value, "");
}

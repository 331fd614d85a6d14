// Where one is: the part of the address behind #, which the server never sees.
import { Signal } from "./signal";

export interface Place {
  path: string[]; // "#/thread/1a2b/17" is ["thread", "1a2b", "17"]
  query: URLSearchParams;
}

function read(): Place {
  const hash = location.hash.replace(/^#\/?/, "");
  const mark = hash.indexOf("?");
  const path = (mark < 0 ? hash : hash.slice(0, mark)).split("/").filter((one) => one !== "");
  const query = new URLSearchParams(mark < 0 ? "" : hash.slice(mark + 1));
  return { path: path.map(decoded), query };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const place = new Signal<Place>(read());

window.addEventListener("hashchange", () => place.set(read()));

export function link(path: string[], query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = new URLSearchParams(given).toString();
  return "#/" + path.map(encodeURIComponent).join("/") + (search ? "?" + search : "");
}

export function go(path: string[], query: Record<string, string> = {}): void {
  location.hash = link(path, query);
}

// The same place by another address: no step for "back".
export function restate(path: string[], query: Record<string, string> = {}): void {
  history.replaceState(null, "", link(path, query));
  place.set(read());
}

export const threadLink = (id: string, seq?: number): string =>
  link(seq === undefined ? ["thread", id] : ["thread", id, String(seq)]);

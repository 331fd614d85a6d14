// constant.mjs [FLUSHES]: a server that answers a request with what it was last given for its path by PUT, so that
// what a client costs by itself can be measured. Which thread a path names does not matter. With FLUSHES it does
// what no durable server can do without: so many times, one after the other, a page is written and flushed before
// the answer, once for all requests that wait. Prints its port.
import { fdatasync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const flushes = Number(process.argv[2] ?? 0);
const page = Buffer.alloc(4096);
const pages = 4096;

// Calls back after a flush that began after the call.
function flusher() {
  const folder = mkdtempSync(join(tmpdir(), "skein-constant-"));
  const file = openSync(join(folder, "log"), "w");
  rmSync(folder, { recursive: true });
  writeSync(file, Buffer.alloc(page.length * pages));
  fsyncSync(file);
  let waiting = [];
  let busy = false;
  let next = 0;
  const flush = () => {
    if (busy || waiting.length === 0) return;
    busy = true;
    const served = waiting;
    waiting = [];
    next = (next + 1) % pages;
    writeSync(file, page, 0, page.length, next * page.length);
    fdatasync(file, (error) => {
      if (error) throw error;
      busy = false;
      for (const done of served) done();
      flush();
    });
  };
  return (done) => {
    waiting.push(done);
    flush();
  };
}
const flushed = flushes > 0 ? flusher() : undefined;
const after = (count, done) => (count > 0 ? flushed(() => after(count - 1, done)) : done());

const answers = new Map();
const kind = (path) => path.replace(/[0-9a-f-]{36}/, "*");
const server = createServer((request, response) => {
  const body = [];
  request.on("data", (bytes) => body.push(bytes));
  request.on("end", () => {
    if (request.method === "PUT") answers.set(kind(request.url), Buffer.concat(body));
    const answer = answers.get(kind(request.url)) ?? "{}";
    after(flushes, () => {
      response.writeHead(200, {
        "content-type": "application/json", "content-length": answer.length });
      response.end(answer);
    });
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

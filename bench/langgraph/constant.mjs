// A server that answers every request with the same JSON, so that what a client costs by itself can
// be measured. Prints its port.
import { createServer } from "node:http";

const thread = JSON.stringify({
  thread_id: "00000000-0000-4000-8000-000000000001", created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z", metadata: {}, status: "idle", config: {} });
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const answer = request.url.endsWith("/search") ? `[${thread}]` : thread;
    response.writeHead(200, {
      "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

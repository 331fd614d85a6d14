// constant.mjs: a server that answers a request with what it was last given for its path by PUT, so that what a client
// costs by itself can be measured. Which thread a path names does not matter. Prints its port.
import { createServer } from "node:http";

const answers = new Map();
const kind = (path) => path.replace(/[0-9a-f-]{36}/, "*");
const server = createServer((request, response) => {
  const body = [];
  request.on("data", (bytes) => body.push(bytes));
  request.on("end", () => {
    if (request.method === "PUT") answers.set(kind(request.url), Buffer.concat(body));
    const answer = answers.get(kind(request.url)) ?? "{}";
    response.writeHead(200, {
      "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

// A server that answers every request with what it was last given by PUT, so that what a client costs
// by itself can be measured. Prints its port.
import { createServer } from "node:http";

let answer = Buffer.from("{}");
const server = createServer((request, response) => {
  const body = [];
  request.on("data", (bytes) => body.push(bytes));
  request.on("end", () => {
    if (request.method === "PUT") answer = Buffer.concat(body);
    response.writeHead(200, {
      "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

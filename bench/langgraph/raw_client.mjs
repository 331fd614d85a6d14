// HTTP/1.1 over connections that stay open, with as little between the wire and the clock as Node
// allows: each connection asks again as soon as it was answered.
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

class Connection {
  constructor(port) {
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.received = [];
    this.socket.on("data", (bytes) => this.#take(bytes));
    this.socket.on("error", (error) => this.fail?.(error));
    this.socket.on("close", () => this.fail?.(new Error("the connection was closed")));
  }

  ask(bytes) {
    return new Promise((done, fail) => {
      this.done = done;
      this.fail = fail;
      this.socket.write(bytes);
    });
  }

  close() {
    this.fail = undefined;
    this.socket.destroy();
  }

  #take(bytes) {
    this.received.push(bytes);
    const all = this.received.length === 1 ? bytes : Buffer.concat(this.received);
    this.received = [all];
    const end = all.indexOf(HEAD_END);
    if (end < 0) return;
    const head = all.toString("latin1", 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    const body = end + HEAD_END.length;
    if (length ? all.length < body + Number(length[1]) : all.indexOf(LAST_CHUNK, body) < 0) return;
    this.received = [];
    this.done({ status: Number(head.slice(9, 12)), body: all.subarray(body) });
  }
}

export function request(method, path, body) {
  const json = body === undefined ? "" : JSON.stringify(body);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
}

// Answers a second, of requests that `make(connection, number)` gives, for so many seconds.
export async function rate(port, connections, seconds, make) {
  const open = Array.from({ length: connections }, () => new Connection(port));
  let answers = 0;
  const began = performance.now();
  const until = began + seconds * 1000;
  await Promise.all(open.map(async (connection, i) => {
    for (let n = 0; performance.now() < until; ++n) {
      const { status, body } = await connection.ask(make(i, n));
      if (status < 200 || status > 299) throw new Error(`${status} ${body}`);
      answers += 1;
    }
  }));
  const took = (performance.now() - began) / 1000;
  for (const connection of open) connection.close();
  return answers / took;
}

// One answer, as JSON.
export async function ask(port, method, path, body) {
  const connection = new Connection(port);
  const { status, body: answer } = await connection.ask(request(method, path, body));
  connection.close();
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${answer}`);
  return JSON.parse(answer.toString().replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/gi, ""));
}

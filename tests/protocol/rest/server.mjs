// The real program as a server, in a workspace of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export class Server {
  /** `port` 0: any that is free. */
  static async start(program, workspace, port = 0) {
    const server = new Server();
    server.child = spawn(program, ["--workspace", workspace, "--json", "serve", "--port", String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    server.exited = once(server.child, "exit");
    const lines = createInterface({ input: server.child.stdout });
    const [line] = await Promise.race([
      once(lines, "line"),
      server.exited.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
    ]);
    server.url = JSON.parse(line).url;
    server.port = Number(new URL(server.url).port);
    return server;
  }

  async stop() {
    this.child.kill("SIGTERM");
    await this.exited;
  }
}

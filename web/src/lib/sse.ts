// Server-sent events, as far as our server sends them.

export interface StreamEvent {
  name: string;
  data: string;
  id: string;
}

// Cuts text into events.
export class SseReader {
  private rest = "";
  private name = "";
  private id = "";
  private data: string[] = [];

  constructor(private readonly told: (event: StreamEvent) => void) {}

  take(text: string): void {
    this.rest += text;
    let begin = 0;
    for (;;) {
      const end = this.rest.indexOf("\n", begin);
      if (end < 0) break;
      this.line(this.rest.slice(begin, end).replace(/\r$/, ""));
      begin = end + 1;
    }
    this.rest = this.rest.slice(begin);
  }

  private line(line: string): void {
    if (line === "") {
      if (this.data.length > 0) {
        this.told({ name: this.name || "message", data: this.data.join("\n"), id: this.id });
      }
      this.name = "";
      this.id = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
  }
}

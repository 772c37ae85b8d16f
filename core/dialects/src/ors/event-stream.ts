import type { ServerResponse } from "node:http";

/** Time between two comments. The client gives a stream up after 30 s without a byte. */
const COMMENT_MS = 10_000;
/** Characters of a line. The client fails on a line above 512 KiB. */
const MAX_LINE = 256 << 10;

/** Response of server-sent events in the form that ORS clients read. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #timer: NodeJS.Timeout;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    this.#timer = setInterval(() => response.write(": waiting\n\n"), COMMENT_MS);
    response.once("close", () => clearInterval(this.#timer));
  }

  /** Sends an event with one line of data. */
  send(event: string, line: string): void {
    if (!this.#response.destroyed) this.#response.write(`event: ${event}\ndata: ${line}\n\n`);
  }

  /** Sends a value as JSON, in `chunk` events and one `end`, and ends the stream. */
  end(value: unknown): void {
    const lines = linesOf(value);
    const last = lines.pop() ?? "";
    for (const line of lines) this.send("chunk", line);
    this.#finish("end", last);
  }

  /** Sends an `error` event and ends the stream. */
  fail(message: string): void {
    this.#finish("error", message.replace(/\s+/g, " "));
  }

  #finish(event: string, line: string): void {
    this.send(event, line);
    this.#response.end();
  }
}

/** Returns JSON in lines of ASCII. No line begins with white space, which the client would remove: it can stand in a string only, where an escape means the same. */
function linesOf(value: unknown): string[] {
  const json = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const lines: string[] = [];
  for (let at = 0; at < json.length; at += MAX_LINE) lines.push(json.slice(at, at + MAX_LINE).replace(/^ /, "\\u0020"));
  return lines;
}

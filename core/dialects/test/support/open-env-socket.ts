import { once } from "node:events";
import { WebSocket } from "ws";

/** Message of an OpenEnv server. */
export interface Answer {
  readonly type: string;
  // The tests read fields of many forms.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

/** Bare WebSocket of a test. */
export class OpenEnvSocket {
  readonly socket: WebSocket;
  readonly #received: string[] = [];
  #wake: (() => void) | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      this.#received.push(data.toString());
      this.#wake?.();
    });
    socket.on("close", () => this.#wake?.());
  }

  static async connect(url: URL, headers: Record<string, string> = {}): Promise<OpenEnvSocket> {
    const socket = new OpenEnvSocket(new WebSocket(url.href.replace(/^http/, "ws"), { headers }));
    await once(socket.socket, "open");
    return socket;
  }

  /** Sends a message, as JSON unless it is a text. */
  send(message: unknown): void {
    this.socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  /** Returns the next message. Rejects when the connection ends before. */
  async next(): Promise<Answer> {
    while (this.#received.length === 0) {
      if (this.socket.readyState >= WebSocket.CLOSING) throw new Error("The connection has ended.");
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return JSON.parse(this.#received.shift() as string) as Answer;
  }

  async ask(message: unknown): Promise<Answer> {
    this.send(message);
    return this.next();
  }

  reset(data: object = {}): Promise<Answer> {
    return this.ask({ type: "reset", data });
  }

  step(data: object): Promise<Answer> {
    return this.ask({ type: "step", data });
  }

  call(name: string, args: object = {}): Promise<Answer> {
    return this.step({ type: "call_tool", tool_name: name, arguments: args });
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, "close");
    this.socket.close(1000);
    await closed;
  }

  /** Breaks the connection. */
  async lose(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, "close");
    this.socket.terminate();
    await closed;
  }
}

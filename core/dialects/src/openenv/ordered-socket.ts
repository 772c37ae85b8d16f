import type { RawData, WebSocket } from "ws";

/** Messages that wait for the one under way. Above it the connection is not read. */
const MAX_WAITING = 16;
/** Bytes of answers that the client has not read, above which no further message is handled. */
const MAX_UNREAD = 1 << 20;
const CLOSED_BY_CLIENT = [1_000, 1_001, 1_005];

/** WebSocket whose messages are answered one after the other, in order. */
export class OrderedSocket {
  readonly #socket: WebSocket;
  readonly #answer: (text: string | undefined) => Promise<string | undefined>;
  readonly #waiting: (string | undefined)[] = [];
  #isBusy = false;
  #isAlive = true;

  /**
   * @param answer returns the answer to a text message; `undefined` when the connection ends without one. It gets `undefined` for a binary message
   * @param onClose called once, with whether the connection broke
   */
  constructor(
    socket: WebSocket,
    answer: (text: string | undefined) => Promise<string | undefined>,
    onClose: (isLost: boolean) => void,
  ) {
    this.#socket = socket;
    this.#answer = answer;
    socket.on("message", (data: RawData, isBinary: boolean) => this.#receive(isBinary ? undefined : textOf(data)));
    socket.on("pong", () => (this.#isAlive = true));
    socket.once("close", (code) => {
      this.#waiting.length = 0;
      onClose(!CLOSED_BY_CLIENT.includes(code));
    });
  }

  /** Sends a ping. A connection without an answer to the one before is ended. @returns whether it is alive */
  ping(): boolean {
    const wasAlive = this.#isAlive;
    this.#isAlive = false;
    if (wasAlive) this.#socket.ping();
    else this.#socket.terminate();
    return wasAlive;
  }

  /** Sends a message unasked. */
  send(text: string): void {
    this.#socket.send(text);
  }

  /** Ends the connection. */
  close(): void {
    this.#socket.close(1_000);
  }

  #receive(text: string | undefined): void {
    this.#isAlive = true;
    this.#waiting.push(text);
    if (this.#waiting.length > MAX_WAITING) this.#socket.pause();
    // A failure concerns this connection alone.
    if (!this.#isBusy) this.#work().catch(() => this.#socket.terminate());
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const answer = await this.#answer(this.#waiting.shift());
      if (answer === undefined) return this.close();
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      if (this.#socket.bufferedAmount < MAX_UNREAD) this.#socket.send(answer);
      else await new Promise<void>((resolve) => this.#socket.send(answer, () => resolve()));
      if (this.#socket.isPaused && this.#waiting.length <= MAX_WAITING) this.#socket.resume();
    }
    this.#isBusy = false;
  }
}

function textOf(data: RawData): string {
  return Array.isArray(data) ? Buffer.concat(data).toString() : (data as Buffer).toString();
}

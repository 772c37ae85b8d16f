import { MAX_ANSWER_BYTES, reasonOf, tooLarge } from "@mrlm/kit/bridge";
import { MrlmError } from "@mrlm/kit";
import { WebSocket } from "ws";

const CLOSE_MS = 2_000;
const OPTIONS = { maxPayload: MAX_ANSWER_BYTES, perMessageDeflate: false };
/** Code of the library for a message above the limit. */
const TOO_LARGE = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/** WebSocket of one session. Requests have no id, so that one is under way at a time. */
export class Socket {
  readonly #socket: WebSocket;
  readonly #url: string;
  readonly #received: string[] = [];
  #reason = "it was closed";
  #isTooLarge = false;
  #wake: (() => void) | undefined;

  private constructor(socket: WebSocket, url: string) {
    this.#socket = socket;
    this.#url = url;
    socket.addEventListener("message", ({ data }) => {
      this.#received.push(typeof data === "string" ? data : "");
      this.#wake?.();
    });
    socket.addEventListener("error", ({ error, message }) => {
      this.#reason = reasonOf(error ?? message);
      this.#isTooLarge ||= (error as NodeJS.ErrnoException | undefined)?.code === TOO_LARGE;
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (code !== 1006) this.#reason = `the server closed it with code ${code}${reason === "" ? "" : ` (${reason})`}`;
      this.#wake?.();
    });
    socket.addEventListener("open", () => this.#wake?.());
  }

  /** Connects. Rejects with BRIDGE_UNREACHABLE, and with the reason of the signal. */
  static async open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted();
    const socket = new Socket(new WebSocket(url.replace(/^http/, "ws"), { headers, ...OPTIONS }), url);
    await socket.#until(() => socket.#socket.readyState !== WebSocket.CONNECTING, signal);
    if (socket.isOpen || socket.#received.length > 0) return socket;
    throw new MrlmError("BRIDGE_UNREACHABLE", `${url} does not accept a WebSocket: ${socket.#reason}.`);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Sends a message and returns the next one of the server. Rejects with BRIDGE_LOST, BRIDGE_RESPONSE_INVALID for more than 64 MiB, and with the reason of the signal, after which the connection is closed. */
  async ask(message: object, signal: AbortSignal): Promise<string> {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
    await this.#until(() => this.#received.length > 0 || !this.isOpen, signal);
    const answer = this.#received.shift();
    if (answer !== undefined) return answer;
    if (this.#isTooLarge) throw tooLarge(`A message of ${this.#url}`);
    throw new MrlmError("BRIDGE_LOST", `The connection to ${this.#url} ended before an answer: ${this.#reason}.`);
  }

  /** Ends the session and the connection. Waits for the server, whose session is then free, for up to two seconds. */
  async close(): Promise<void> {
    if (this.isOpen) this.#socket.send(JSON.stringify({ type: "close" }));
    this.#socket.close(1000);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), CLOSE_MS);
    await this.#until(() => this.#socket.readyState === WebSocket.CLOSED, late.signal).catch(() => undefined);
    clearTimeout(timer);
    // The library itself waits for half a minute, and so would the end of this process.
    this.#socket.terminate();
  }

  async #until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake?.();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (!holds() && !signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    if (!signal.aborted) return;
    this.#socket.close(1000);
    throw signal.reason;
  }
}

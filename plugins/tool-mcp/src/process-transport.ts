import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { type Child, type Grace, startChild } from "@mrlm/process";
import { answeredId, Lines } from "./lines.ts";
import { tooLargeAnswer } from "./discarded-answers.ts";

/** Bytes of stderr that are kept for error messages. */
const STDERR_BYTES = 2048;
/** Time for the last output of a server that has ended. */
const DRAIN_MS = 200;
/** Time for a server to end: after the end of its input, then after SIGTERM. */
const GRACE: Grace = { inputMs: 500, termMs: 1000 };

/** Command that starts a server, with its variables replaced. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Limit of one message in bytes. */
  readonly messageBytes: number;
}

/**
 * Connection with a server over its standard streams, with which the server ends. Unlike the transport of the official client, it ends the processes that the
 * command started (`npx`, for example, is not the server), and survives messages above the limit.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #command: ServerCommand;
  #child: Child | undefined;
  #drain: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  #stderr = "";
  #ending: string | undefined;

  constructor(command: ServerCommand) {
    this.#command = command;
  }

  /** Describes how the server ended, and the end of what it wrote to stderr; `undefined` if there is nothing to describe. */
  get ending(): string | undefined {
    const lines = this.#stderr.trim().split("\n").slice(-5).join("\n");
    const parts = [
      ...(this.#ending === undefined ? [] : [this.#ending]),
      ...(lines === "" ? [] : [`its stderr ends with: ${lines}`]),
    ];
    return parts.length === 0 ? undefined : parts.join("; ");
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, messageBytes } = this.#command;
    const child = startChild({ command, args, env: { ...getDefaultEnvironment(), ...env }, cwd, hasInput: true });
    this.#child = child;
    if (child.tree === undefined) throw (await child.ended).error as Error;
    child.process.once("exit", (code, signal) => {
      this.#ending ??= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
      this.#closeSoon();
    });
    void child.ended.then(() => this.close());
    const lines = new Lines(messageBytes, {
      line: (text) => this.#receive(text),
      tooLong: (head, tail) => {
        const id = answeredId(head, tail);
        if (id !== undefined) return this.#deliver(tooLargeAnswer(id, messageBytes));
        this.#ending ??= "it sent a message above the limit that answers no known request";
        void this.close();
      },
    });
    const { stdout, stderr } = child.process as { readonly stdout: Readable; readonly stderr: Readable };
    stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    stdout.on("end", () => this.#closeSoon());
    stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.subarray(-STDERR_BYTES).toString("utf8")).slice(-STDERR_BYTES);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin: Writable | null | undefined = this.#child?.process.stdin;
    if (!stdin?.writable) throw new Error("The server has closed its input.");
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off("drain", done).off("close", done);
        resolve();
      };
      stdin.on("drain", done).on("close", done);
    });
  }

  /** Ends the process group. Settles when no process is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Closes after the last output, and not only when all pipes are closed: a process that the server left may hold them open. */
  #closeSoon(): void {
    this.#drain ??= setTimeout(() => void this.close(), DRAIN_MS);
  }

  async #close(): Promise<void> {
    clearTimeout(this.#drain);
    // The connection is over at once, whatever time the processes take.
    queueMicrotask(() => this.onclose?.());
    const child = this.#child;
    await child?.stop(GRACE);
    for (const stream of [child?.process.stdin, child?.process.stdout, child?.process.stderr]) stream?.destroy();
  }

  #receive(line: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(line); // GuardedTransport limits the depth, over all transports
    } catch {
      parsed = undefined;
    }
    // A batch of messages is an array.
    for (const message of Array.isArray(parsed) ? (parsed as unknown[]) : [parsed])
      if (isMessage(message)) this.#deliver(message);
      else this.onerror?.(new NotAMessage(line));
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#closing === undefined) this.onmessage?.(message);
  }
}

/** Line on stdout that is no message of the protocol: a banner, or a log. */
export class NotAMessage extends Error {
  constructor(line: string) {
    super(`The server wrote a line to stdout that is no message of the protocol: ${line.slice(0, 200)}`);
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === "object" && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === "2.0";
}

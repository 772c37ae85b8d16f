import { type Logger, Places } from "@mrlm/kit";
import { Connection, reasonOf, type ServerTransport } from "./connection.ts";
import { GuardedTransport } from "./guarded-transport.ts";
import { HttpTransport, legacyTransport } from "./http-transport.ts";
import { type ServerEntry, type ServerSettings, textsOf } from "./options.ts";
import { NotAMessage, ProcessTransport } from "./process-transport.ts";
import { EPISODE_DIRECTORY, expand, type Redact, redactorOf, uses, type Variables } from "./variables.ts";

/** Parts that all servers of a toolset share. */
export interface Shared {
  readonly logger: Logger;
  /** Places of servers that start at the same time. */
  readonly starts: Places;
  /** Returns the absolute path of a folder that the configuration names. */
  dataPath(path: string): string;
}

/** Configured server, which opens connections. */
export class Server {
  readonly name: string;
  readonly settings: ServerSettings;
  /** Hides the values of the server's variables. */
  readonly redact: Redact;
  /** Whether a process belongs to one episode from its start, because it reads that episode's folder. */
  readonly usesEpisodeDirectory: boolean;
  /** Places of processes at the same time, where each episode has its own. */
  readonly places: Places;
  readonly #entry: ServerEntry;
  readonly #shared: Shared;
  readonly #warned = new Set<string>();

  constructor(name: string, entry: ServerEntry, settings: ServerSettings, shared: Shared) {
    this.name = name;
    this.settings = settings;
    this.#entry = entry;
    this.#shared = shared;
    const texts = textsOf(entry).map(({ text }) => text);
    this.redact = redactorOf(texts, process.env);
    this.usesEpisodeDirectory = texts.some((text) => uses(text, EPISODE_DIRECTORY));
    this.places = new Places(settings.processes ?? 64);
  }

  /** Starts the server, or a session of it, when a place is free. Rejects with an error that has no secrets. */
  async connect(signal: AbortSignal, directory?: string): Promise<Connection> {
    const free = await this.#shared.starts.take(signal);
    const late = new AbortController();
    const { start_timeout_ms: limit } = this.settings;
    const timer = setTimeout(() => late.abort(new Error(`it was not ready after ${limit / 1000} s`)), limit);
    const onAbort = (): void => late.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#open(late.signal, { ...process.env, [EPISODE_DIRECTORY]: directory });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      free();
    }
  }

  async #open(signal: AbortSignal, variables: Variables): Promise<Connection> {
    const transports = this.#transports(variables);
    for (const [i, create] of transports.entries()) {
      const transport = new GuardedTransport(create());
      try {
        let isOpen = false;
        // Before that, all faults but a banner are the reason that opening fails for.
        const onFault = (error: Error): void => {
          if (isOpen || error instanceof NotAMessage) this.#warn(error);
        };
        const connection = await Connection.open(transport, {
          signal,
          negotiates: this.settings.protocol === "discover",
          offers: (name) => this.settings.tools?.includes(name) ?? true,
          onFault,
        });
        isOpen = true;
        return connection;
      } catch (error) {
        if (i < transports.length - 1 && isRefused(error)) continue;
        // The cause may quote a secret.
        // oxlint-disable-next-line eslint/preserve-caught-error
        throw new Error(this.redact(`MCP server ${this.name} did not start: ${reasonOf(error, transport)}`));
      }
    }
    throw new Error(`MCP server ${this.name} has no transport.`);
  }

  /** Returns the transports to try, in this order. */
  #transports(variables: Variables): (() => ServerTransport)[] {
    const { type, command, args, env, cwd = ".", url, headers } = this.#entry;
    const value = (text: string): string => expand(text, variables);
    const values = (texts: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, value(text)]));
    const messageBytes = this.settings.message_bytes;
    if (command !== undefined) {
      const process = {
        command: value(command),
        args: args.map(value),
        env: values(env),
        cwd: this.#shared.dataPath(value(cwd)),
        messageBytes,
      };
      return [() => new ProcessTransport(process)];
    }
    const address = { url: value(url ?? ""), headers: values(headers), messageBytes };
    const current = (): ServerTransport => new HttpTransport(address);
    const legacy = (): ServerTransport => legacyTransport(address);
    return type === "sse" ? [legacy] : type === undefined ? [current, legacy] : [current];
  }

  /** Warns once of each kind of fault. */
  #warn(error: Error): void {
    // The last report may come after the answer.
    if (error.message.startsWith("Received a progress notification for an unknown token")) return;
    const kind = error instanceof NotAMessage ? "stdout" : error.message.slice(0, 40);
    if (this.#warned.has(kind) || this.#warned.size > 10) return;
    this.#warned.add(kind);
    this.#shared.logger.warn(this.redact(`MCP server ${this.name}: ${error.message.slice(0, 500)}`));
  }
}

/** Whether a server does not know the present transport, as the protocol describes it for servers of the legacy one. */
function isRefused(error: unknown): boolean {
  const { status } = error as { readonly status?: number };
  return status === 400 || status === 404 || status === 405;
}

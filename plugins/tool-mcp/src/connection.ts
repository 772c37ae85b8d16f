import {
  type CallToolResult,
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Tool,
  type Transport,
} from "@modelcontextprotocol/client";
import type { JsonObject, ToolCallOptions } from "@mrlm/kit";
import { STREAM_ENDED } from "./http-transport.ts";
import { internSchema } from "./schemas.ts";
import { DISCARDED } from "./discarded-answers.ts";

/** Longest delay of a timer. The host limits calls: the client must not. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** Time in which a server must answer a ping after a call without an answer. */
const PING_MS = 5000;
/** Time for each page of a changed list. */
const LIST_MS = 10_000;
/** Largest number of times that one change makes the client read the tools. */
const MAX_READINGS = 3;
/** Largest definition of a tool, and of all offered tools of a server: definitions are in each prompt. The schemas of results, which are in none, have the same limits. */
const DEFINITION_BYTES = 65_536;
const DEFINITIONS_BYTES = 2 ** 20;
/** Largest number of messages of a chain of errors. */
const MAX_CAUSES = 5;

/** Tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Whether the server states that a call changes nothing. */
  readonly isReadOnly: boolean;
}

/** Transport that knows how its server ended. */
export interface ServerTransport extends Transport {
  readonly ending?: string | undefined;
}

/** Answer of a server to a call: a result, or the text of an error of the protocol. */
export type Answer = { readonly result: CallToolResult } | { readonly error: string };

/** Connection with a server whose tools are known. */
export class Connection {
  readonly #client: Client;
  readonly #transport: ServerTransport;
  readonly #offers: (name: string) => boolean;
  #tools: readonly ListedTool[] = [];
  /** Reading of the tools after a change, and whether they changed again meanwhile. */
  #refreshing: Promise<void> | undefined;
  #changedAgain = false;
  #calls = 0;
  #state: "open" | "retired" | "closed" = "open";
  #isChecked = true;

  private constructor(client: Client, transport: ServerTransport, offers: (name: string) => boolean) {
    this.#client = client;
    this.#transport = transport;
    this.#offers = offers;
  }

  /** Connects and reads the tools. Closes the transport if that fails. */
  static async open(
    transport: ServerTransport,
    options: {
      readonly signal: AbortSignal;
      readonly negotiates: boolean;
      /** Whether a tool of the server is offered to policies. */
      offers(name: string): boolean;
      /** Called with faults that end nothing. */
      onFault(error: Error): void;
    },
  ): Promise<Connection> {
    const client = new Client(
      { name: "mrlm", version: "0.1.0" },
      options.negotiates ? { versionNegotiation: { mode: "auto" } } : {},
    );
    const connection = new Connection(client, transport, (name) => options.offers(name));
    const onClose = (): void => {
      connection.#state = "closed";
    };
    Object.assign(client, { onerror: options.onFault, onclose: onClose });
    client.setNotificationHandler("notifications/tools/list_changed", () => connection.#refresh());
    const { signal } = options;
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      const ready = (async () => {
        await client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
        // From the protocol's version 2026-07-28 on, a client asks for notices of changes.
        if (connection.#isModern && client.getServerCapabilities()?.tools?.listChanged === true)
          await client.listen({ toolsListChanged: true }, { signal }).catch(options.onFault);
        connection.#tools = await connection.#list({ signal, timeout: NO_TIMEOUT_MS });
      })();
      ready.catch(() => undefined);
      await Promise.race([ready, stopped]);
      return connection;
    } catch (error) {
      await transport.close();
      throw error;
    } finally {
      stopped.catch(() => undefined);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Tools at this moment. The list is replaced when the server changes it. */
  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  /** Whether new calls may use it. */
  get isUsable(): boolean {
    return this.#state === "open";
  }

  /** Calls without an answer. */
  get calls(): number {
    return this.#calls;
  }

  /** Calls a tool once. Rejects when the connection is lost, and when the signal is aborted. */
  async call(name: string, args: JsonObject, options: ToolCallOptions): Promise<Answer> {
    const { signal, progressed } = options;
    this.#calls++;
    try {
      const result = await this.#client.request(
        { method: "tools/call", params: { name, arguments: args } },
        { signal, timeout: NO_TIMEOUT_MS, ...(progressed === undefined ? {} : { onprogress: () => progressed() }) },
      );
      // The call may have changed the tools: the next turn shows them.
      await this.#refreshing?.catch(() => undefined);
      return { result };
    } catch (error) {
      if (signal.aborted) void this.#check();
      else if (error instanceof ProtocolError && error.code !== STREAM_ENDED)
        return { error: error.code === DISCARDED ? error.message : `${error.message} (code ${error.code})` };
      else if (!isMalformed(error)) this.#retire();
      throw new Error(reasonOf(error, this.#transport), { cause: error });
    } finally {
      this.#calls--;
      if (this.#state === "retired" && this.#calls === 0) void this.close();
    }
  }

  async close(): Promise<void> {
    this.#state = "closed";
    await this.#transport.close();
    // For a transport whose end came before that of the client.
    await this.#client.close();
  }

  /** Whether the protocol's version is 2026-07-28 or later, which has no ping. */
  get #isModern(): boolean {
    return this.#client.getProtocolEra() === "modern";
  }

  /** Takes no further calls, and closes after the last answer. */
  #retire(): void {
    if (this.#state === "open") this.#state = "retired";
    if (this.#calls === 0) void this.close();
  }

  /** Retires a server that did not answer a call and does not answer a ping either. */
  async #check(): Promise<void> {
    if (!this.#isChecked || this.#state !== "open") return;
    this.#isChecked = false;
    try {
      if (this.#isModern) await this.#list({ timeout: PING_MS });
      else await this.#client.ping({ timeout: PING_MS });
    } catch (error) {
      // An error of the protocol is an answer.
      if (!(error instanceof ProtocolError)) this.#retire();
    } finally {
      this.#isChecked = true;
    }
  }

  /** Reads the tools again, once for all changes that come meanwhile. */
  async #refresh(): Promise<void> {
    if (this.#refreshing !== undefined) {
      this.#changedAgain = true;
      return;
    }
    this.#refreshing = (async () => {
      // A server may report a change each time it is read.
      for (let i = 0; i === 0 || (this.#changedAgain && i < MAX_READINGS); i++) {
        this.#changedAgain = false;
        this.#tools = await this.#list({ timeout: LIST_MS });
      }
    })();
    try {
      await this.#refreshing;
    } catch (error) {
      this.#client.onerror?.(new Error(`The changed list of tools could not be read: ${String(error)}`));
    } finally {
      this.#refreshing = undefined;
    }
  }

  async #list(options: { readonly signal?: AbortSignal; readonly timeout: number }): Promise<readonly ListedTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await this.#client.listTools(undefined, { ...options, cacheMode: "refresh" });
    assertDefinitions(tools.filter(({ name }) => this.#offers(name)));
    return tools.map(({ name, title, description = title ?? "", inputSchema, outputSchema, annotations }) => ({
      name,
      description,
      parameters: internSchema(inputSchema as JsonObject),
      isReadOnly: annotations?.readOnlyHint === true,
      ...(outputSchema === undefined ? {} : { outputSchema: internSchema(outputSchema as JsonObject) }),
    }));
  }
}

/** Throws for tools that share a name, by which policies call them, and for definitions that are too large for a prompt. */
function assertDefinitions(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new Error(`it lists two tools with the name ${quoted(name)}`);
    names.add(name);
  }
  assertSizes("definition", tools, ({ name, title, description = title, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  assertSizes("schema of results", tools, ({ outputSchema }) => outputSchema);
}

function assertSizes(what: string, tools: readonly Tool[], partOf: (tool: Tool) => unknown): void {
  let total = 0;
  for (const tool of tools) {
    const bytes = Buffer.byteLength(JSON.stringify(partOf(tool)) ?? "");
    total += bytes;
    if (bytes > DEFINITION_BYTES)
      throw new Error(
        `the ${what} of its tool ${quoted(tool.name)} has ${bytes} bytes, where ${DEFINITION_BYTES} are allowed; choose others by \`tools\` of the server`,
      );
  }
  if (total > DEFINITIONS_BYTES)
    throw new Error(
      `its ${tools.length} tools have ${total} bytes of ${what}, where ${DEFINITIONS_BYTES} are allowed; choose some by \`tools\` of the server`,
    );
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100));

/** Whether a server answered with something that is no result of a tool. It is broken, and its connection is not. */
function isMalformed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
}

/** Returns why a connection or a call failed, with how the server ended. */
export function reasonOf(error: unknown, { ending }: ServerTransport): string {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" && path !== undefined) return `there is no command ${JSON.stringify(path)}, or no such folder`;
  const messages: string[] = [];
  for (let each = error as Chained | undefined; each !== undefined && messages.length < MAX_CAUSES;) {
    const status = typeof each.status === "number" ? ` (status ${each.status})` : "";
    const message = `${each.message ?? String(each)}${status}`;
    // Some errors repeat the message of their cause.
    if (message !== "" && !messages.some((before) => before.includes(message))) messages.push(message);
    each = each.errors?.[0] ?? each.cause;
  }
  return `${messages.join(": ")}${ending === undefined ? "" : `; ${ending}`}`;
}

/** Error with its cause, or with several failures. */
interface Chained {
  readonly message?: string;
  /** Of an HTTP answer. */
  readonly status?: unknown;
  readonly cause?: Chained;
  readonly errors?: readonly Chained[];
}

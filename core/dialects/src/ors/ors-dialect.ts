import { randomBytes } from "node:crypto";
import { type Exchange, HttpError } from "@mrlm/kit/http";
import { VERSION } from "@mrlm/kit/service";
import { logFault } from "@mrlm/server/sessions";
import { defined, MrlmError, type ToolDefinition } from "@mrlm/spec";
import { ClientSessions } from "../client-sessions.ts";
import type { Call, Dialect, DialectContext, Route } from "../dialect.ts";
import { environmentOf } from "../environment-of.ts";
import { Episode } from "../episode.ts";
import { requireOneAgent } from "../one-agent.ts";
import { readBody } from "../read-body.ts";
import { errorText, withStatus } from "../status.ts";
import { SUBMIT } from "../submit.ts";
import { BLOCK_TYPES, blocksOf, orsMessages } from "./blocks.ts";
import { callTool } from "./call-tool.ts";
import { EventStream } from "./event-stream.ts";
import type { OrsCall } from "./ors-call.ts";
import { OrsSession, StillStarting } from "./ors-session.ts";
import { callRequest, createRequest, createSessionRequest } from "./requests.ts";

/** Clients of this dialect. The ids of their sessions are secrets. */
const OWNER = "ors";
const MAX_ID = 128;
/** Seconds after which a client asks again for an episode that starts. */
const START_RETRY_S = 2;

/** Open Reward Standard. One session is one episode. */
export class OrsDialect implements Dialect {
  readonly paths: readonly string[];
  readonly routes: readonly Route[];
  readonly #context: DialectContext;
  readonly #sessions: ClientSessions<OrsSession>;

  constructor(context: DialectContext) {
    this.#context = context;
    this.#sessions = new ClientSessions(context.sessions.limits.leaseMs, "Open one by /create_session and /create.");
    this.paths = context.environments.length === 1 ? ["/"] : context.environments.map((id) => `/${id}`);
    this.routes = [
      {
        method: "GET",
        path: "/version",
        summary: "Version of the server",
        handle: async (call) => this.#version(call),
      },
      {
        method: "POST",
        path: "/create_session",
        summary: "Issue the id of a session",
        handle: async (call) => this.#createSession(call),
      },
      {
        method: "POST",
        path: "/create",
        summary: "Start the episode of a session",
        handle: (call) => this.#create(call),
      },
      {
        method: "POST",
        path: "/ping",
        summary: "Extend the lease of a session",
        handle: async (call) => this.#ping(call),
      },
      {
        method: "POST",
        path: "/delete",
        summary: "End the episode of a session",
        handle: (call) => this.#delete(call),
      },
      { method: "POST", path: "/delete_session", summary: "End a session", handle: (call) => this.#delete(call) },
      { method: "GET", path: "/tools", summary: "Tools of an environment", handle: (call) => this.#tools(call) },
      { method: "GET", path: "/task_tools", summary: "Tools of an episode", handle: (call) => this.#taskTools(call) },
      { method: "GET", path: "/prompt", summary: "First observation as blocks", handle: (call) => this.#prompt(call) },
      {
        method: "GET",
        path: "/messages",
        summary: "First observation as messages",
        handle: (call) => this.#messages(call),
      },
      { method: "POST", path: "/call", summary: "Call a tool of an episode", handle: (call) => this.#call(call) },
      {
        method: "POST",
        path: "/score_group",
        summary: "Not supported: no environment scores groups",
        handle: async () => noGroups(),
      },
    ];
  }

  errorBody(error: MrlmError): unknown {
    return { detail: errorText(error) };
  }

  async close(): Promise<void> {
    await this.#sessions.close();
  }

  #version({ exchange }: Call): void {
    exchange.send(200, { version: VERSION, build_sha: null });
  }

  #createSession({ exchange, body }: Call): void {
    if (body !== undefined) readBody(createSessionRequest, body);
    const stream = new EventStream(exchange.response);
    const sid = randomBytes(16).toString("hex");
    stream.send("task_id", sid);
    stream.end({ sid });
  }

  /** Waits for the start of the episode, so that its errors are those of this request. */
  async #create(call: Call): Promise<void> {
    const { exchange } = call;
    const id = sessionIdOf(exchange);
    const { environment: named, split, index, seed } = readBody(createRequest, call.body);
    const { environment, task } = await this.#chosen(call, named, { split, index });
    const { client } = exchange;
    const request = {
      environment: { id: environment },
      ...defined({ task, seed, client }),
    } as const;
    const session = new OrsSession((signal) => Episode.start(this.#context.sessions, OWNER, request, signal));
    this.#sessions.add(client, id, session);
    try {
      await session.episode();
    } catch (error) {
      if (!(error instanceof StillStarting)) {
        await this.#sessions.discard(client, id, session);
        return this.#refuse(exchange, error);
      }
    }
    exchange.send(200, { sid: id });
  }

  /** Returns the environment and the task of a new session. */
  async #chosen(
    call: Call,
    named: string | undefined,
    { split, index }: { readonly split: string; readonly index: number },
  ) {
    const { host, catalogue, environments } = this.#context;
    try {
      const environment = named ?? environmentOf(call, environments);
      requireOneAgent(await host.describe({ id: environment }), "ORS");
      return { environment, task: (await catalogue.task(environment, split, index)).id };
    } catch (error) {
      throw withStatus(error);
    }
  }

  #ping({ exchange }: Call): void {
    this.#sessionOf(exchange);
    exchange.send(200, { status: "ok" });
  }

  async #delete({ exchange }: Call): Promise<void> {
    const id = sessionIdOf(exchange);
    await this.#sessions.delete(exchange.client, id);
    exchange.send(200, { sid: id });
  }

  async #tools(call: Call): Promise<void> {
    const { catalogue, environments } = this.#context;
    try {
      call.exchange.send(200, toolList(await catalogue.tools(environmentOf(call, environments))));
    } catch (error) {
      this.#refuse(call.exchange, error);
    }
  }

  async #taskTools({ exchange }: Call): Promise<void> {
    await this.#withEpisode(exchange, (episode) => exchange.send(200, toolList([...episode.tools, SUBMIT])));
  }

  async #prompt({ exchange }: Call): Promise<void> {
    await this.#withEpisode(exchange, ({ first }) => exchange.send(200, blocksOf(first.messages)));
  }

  async #messages({ exchange }: Call): Promise<void> {
    await this.#withEpisode(exchange, ({ first }) => exchange.send(200, orsMessages(first.messages)));
  }

  async #call({ exchange, body }: Call): Promise<void> {
    const session = this.#sessionOf(exchange);
    const { name, input, task_id: known } = readBody(callRequest, body);
    if (known !== undefined && known !== null)
      return this.#attach(new EventStream(exchange.response), session.calls.find(known));
    await this.#withEpisode(exchange, async (episode) => {
      const { call, begin } = session.calls.add();
      const stream = new EventStream(exchange.response);
      // A client that knows the id attaches to the call again, instead of calling twice.
      stream.send("task_id", call.id);
      begin(() => callTool(episode, name, input, session.signal));
      await this.#attach(stream, call);
    });
  }

  /** Sends the result of a call. The call continues when the client disconnects. */
  async #attach(stream: EventStream, call: OrsCall | undefined): Promise<void> {
    if (call === undefined) return stream.fail("unknown task_id");
    try {
      stream.end(await call.result);
    } catch (error) {
      logFault(this.#context.logger, error);
      stream.fail(errorText(error));
    }
  }

  /** Uses the episode of a session once it has started. */
  async #withEpisode(exchange: Exchange, use: (episode: Episode) => void | Promise<void>): Promise<void> {
    let episode: Episode;
    try {
      episode = await this.#sessionOf(exchange).episode();
    } catch (error) {
      return this.#refuse(exchange, error);
    }
    await use(episode);
  }

  #sessionOf(exchange: Exchange): OrsSession {
    return this.#sessions.get(exchange.client, sessionIdOf(exchange));
  }

  /** Answers a request for an episode that has not started. Clients wait for ten minutes after the state `starting`. */
  #refuse(exchange: Exchange, error: unknown): void {
    const isFull = MrlmError.hasCode(error, "RESOURCE_EXHAUSTED");
    if (!isFull && !(error instanceof StillStarting)) throw withStatus(error);
    const seconds = isFull ? Math.ceil((error.retryDelayMs ?? 1_000) / 1_000) : START_RETRY_S;
    const detail = isFull ? errorText(error) : "The environment is still starting.";
    exchange.send(503, { detail }, { "x-backend-state": "starting", "retry-after": String(seconds) });
  }
}

function sessionIdOf(exchange: Exchange): string {
  const id = exchange.header("x-session-id")?.trim() ?? "";
  if (id !== "" && id.length <= MAX_ID) return id;
  const text = id === "" ? "X-Session-ID header is required." : `X-Session-ID has more than ${MAX_ID} characters.`;
  throw new HttpError(400, new MrlmError("MESSAGE_INVALID", text));
}

function toolList(tools: readonly ToolDefinition[]): object {
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: { type: "object", ...parameters },
    })),
    terminal_tool: null,
    supports_score_group: false,
    message_block_types: BLOCK_TYPES,
  };
}

function noGroups(): never {
  throw new HttpError(404, new MrlmError("MESSAGE_INVALID", "No environment of this server implements score_group."));
}

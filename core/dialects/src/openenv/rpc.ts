import { logFault } from "@mrlm/server/sessions";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { noEnvironment } from "../sockets.ts";
import type { DialectContext } from "../dialect.ts";
import { jsonRpcError } from "../json-rpc-error.ts";
import { OpenEnvSession } from "./openenv-session.ts";
import type { OpenEnvSessions } from "./openenv-sessions.ts";
import {
  callParams,
  closeParams,
  listParams,
  MalformedRequest,
  parse,
  type RpcRequest,
  rpcRequest,
} from "./requests.ts";
import { toolsOf } from "./schema.ts";

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

export type RpcResponse = JsonObject;

/** Client of a request: its token, and the environment and session of its connection. */
export interface Caller {
  readonly client: string | undefined;
  readonly environment: string | undefined;
  /** Session of the WebSocket. Requests over HTTP name theirs. */
  readonly session?: OpenEnvSession;
}

/** Tools and sessions by JSON-RPC. */
export class Rpc {
  readonly #context: DialectContext;
  readonly #sessions: OpenEnvSessions;

  constructor(context: DialectContext, sessions: OpenEnvSessions) {
    this.#context = context;
    this.#sessions = sessions;
  }

  /** Returns the response to a request, also for an error. */
  async answer(body: unknown, caller: Caller): Promise<RpcResponse> {
    let request: RpcRequest;
    try {
      request = parse(rpcRequest, body, []);
    } catch (error) {
      return rpcError(idOf(body), INVALID_REQUEST, `Invalid request: ${(error as Error).message}`);
    }
    const id = request.id ?? null;
    try {
      const result = await this.#call(request, caller);
      if (result !== undefined) return { jsonrpc: "2.0", id, result };
      return rpcError(id, METHOD_NOT_FOUND, `Method not found: ${request.method.slice(0, 100)}`);
    } catch (error) {
      if (error instanceof MalformedRequest) return rpcError(id, INVALID_PARAMS, `Invalid params: ${error.message}`);
      logFault(this.#context.logger, error);
      return { jsonrpc: "2.0", id, error: { ...jsonRpcError(error) } };
    }
  }

  /** Returns the result; `undefined` for an unknown method. */
  async #call({ method, params }: RpcRequest, caller: Caller): Promise<JsonValue | undefined> {
    switch (method) {
      case "openenv/session/create":
        return { session_id: this.#sessions.open(this.#environmentOf(caller), caller.client).id };
      case "openenv/session/close":
        return this.#close(parse(closeParams, params, ["params"]).session_id, caller);
      case "tools/list": {
        const { session_id: id } = parse(listParams, params, ["params"]);
        return this.#use(id, caller, async (session) => ({ tools: toolsOf(await session.tools()) }));
      }
      case "tools/call": {
        const { session_id: id, name, arguments: args } = parse(callParams, params, ["params"]);
        return this.#use(id, caller, (session) => callTool(session, name, args as JsonObject));
      }
      default:
        return undefined;
    }
  }

  async #close(id: string, caller: Caller): Promise<JsonObject> {
    const session = this.#sessions.get(caller.client, id, caller.environment);
    if (session.isAttached) {
      session.endsWithSocket = true;
      return { session_id: id, closed: false, closing: true };
    }
    await this.#sessions.end(session);
    return { session_id: id, closed: true };
  }

  /** Uses the session that a request names, or that of its connection. Without either, the request has an episode of its own. */
  async #use(
    id: string | null | undefined,
    caller: Caller,
    use: (session: OpenEnvSession) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    if (typeof id === "string") return use(this.#sessions.get(caller.client, id, caller.environment));
    if (caller.session !== undefined) return use(caller.session);
    const environment = this.#environmentOf(caller);
    const own = new OpenEnvSession(this.#context, { environment, client: caller.client, endsWithSocket: true });
    try {
      return await use(own);
    } finally {
      await own.close();
    }
  }

  #environmentOf({ environment }: Caller): string {
    if (environment === undefined) throw noEnvironment(this.#context.environments);
    if (this.#context.environments.includes(environment)) return environment;
    throw new MrlmError(
      "ENVIRONMENT_NOT_FOUND",
      `This port has no environment ${JSON.stringify(environment.slice(0, 100))}.`,
    );
  }
}

/** Makes the response for an error. */
export function rpcError(id: string | number | null, code: number, message: string): RpcResponse {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Calls a tool. A session without an episode begins one. The end of the episode is a result, which a model reads. */
async function callTool(session: OpenEnvSession, name: string, args: JsonObject): Promise<JsonObject> {
  await session.begin();
  try {
    const { observation, metadata, reward, done } = await session.callTool(name, args);
    const { result, error } = observation as { result: JsonObject | null; error: { message: string } | null };
    const text = error?.message ?? "";
    const content = error === null ? result : { content: [{ type: "text", text }], data: text, is_error: true };
    return {
      ...content,
      isError: error !== null,
      _meta: { mrlm: { reward, done, ...(metadata["mrlm"] as JsonObject) } },
    };
  } catch (error) {
    if (!MrlmError.hasCode(error, "EPISODE_ENDED", "SESSION_BUSY")) throw error;
    const text = `${error.message} ${error.hint}`;
    return { content: [{ type: "text", text }], data: text, is_error: true, isError: true };
  }
}

function idOf(body: unknown): string | number | null {
  const id: unknown = typeof body === "object" && body !== null && "id" in body ? body.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

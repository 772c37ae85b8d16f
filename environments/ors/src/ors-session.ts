import { type HttpClient, type HttpRequest, readRemoteJson, ServerFull, statusError } from "@mrlm/kit/bridge";
import { defined, type JsonObject, type JsonValue, MrlmError } from "@mrlm/kit";
import { eventsOf } from "./event-stream.ts";

/** Interval of pings. Servers end sessions without a request. */
const PING_MS = 10_000;
/** Time for the last requests of a session. */
const CLOSE_MS = 2_000;
/** Delay before another try of a server that states none. */
const RETRY_MS = 1_000;
/** Times that a call is fetched again after a lost connection. */
const MAX_ATTACHED = 5;

/** Session on a server. */
export class OrsSession {
  readonly #client: HttpClient;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  #pings: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(client: HttpClient, prefix: string, id: string) {
    this.#client = client;
    this.#prefix = prefix;
    this.#headers = { "x-session-id": id };
  }

  /**
   * Opens a session and creates its environment. Rejects with {@link ServerFull} for a server without a place, and with the errors of the client.
   * @param prefix path of the environment below the URL
   * @param task body of `/create`
   */
  static async open(client: HttpClient, prefix: string, task: JsonObject, signal: AbortSignal): Promise<OrsSession> {
    const session = new OrsSession(client, prefix, await sessionId(client, signal));
    try {
      await session.#request({ method: "POST", path: "/create", body: task, signal });
    } catch (error) {
      await session.close();
      throw error;
    }
    session.#pings = setInterval(() => session.#ping(), PING_MS).unref();
    return session;
  }

  /** Reads what the server has about the episode, below the path of the environment; `undefined` where it does not have the route. Rejects as `open` does. */
  async get(path: string, signal: AbortSignal): Promise<JsonValue | undefined> {
    try {
      return await this.#request({ method: "GET", path: `${this.#prefix}${path}`, signal });
    } catch (error) {
      if (MrlmError.hasCode(error, "BRIDGE_REFUSED") && /status 40[45]/.test(error.message)) return undefined;
      throw error;
    }
  }

  /**
   * Calls a tool. A lost connection is replaced once the server has named the call: the call itself is made once. Rejects with BRIDGE_LOST for a connection
   * that was lost before, and for a session that the server does not know any more; with BRIDGE_FAILED for an error of the server.
   */
  async call(name: string, input: JsonObject, signal: AbortSignal): Promise<JsonValue> {
    let known: string | undefined;
    for (let attached = 0; ; attached++) {
      const body = { name, input, ...defined({ task_id: known }) };
      const data: string[] = [];
      let hasEnded = false;
      try {
        const request = { method: "POST", path: `${this.#prefix}/call`, body, signal } as const;
        const response = await this.#client.send({ ...request, headers: this.#headers });
        if (response.status >= 400)
          throw lost(statusError("The answer to /call", response.status, await this.#client.text(response, signal)));
        for await (const event of eventsOf(response.body, signal)) {
          if (event.event === "task_id") known = event.data;
          else if (event.event === "chunk" || event.event === "end") data.push(event.data);
          else if (event.event === "error")
            throw new MrlmError("BRIDGE_FAILED", `The call of ${name} failed on the server: ${event.data}`);
          hasEnded ||= event.event === "end";
        }
        if (hasEnded) return readRemoteJson(data.join(""), "The answer to /call");
        throw new MrlmError("BRIDGE_LOST", `The answer to the call of ${name} ended before its end.`);
      } catch (error) {
        const isBroken =
          MrlmError.hasCode(error, "BRIDGE_LOST", "BRIDGE_UNREACHABLE") && !(error instanceof SessionGone);
        if (!isBroken) throw error;
        if (known === undefined || attached === MAX_ATTACHED)
          throw new MrlmError("BRIDGE_LOST", `The answer to the call of ${name} is lost: ${error.message}`, {
            cause: error,
          });
      }
    }
  }

  /** Ends the session. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#pings);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), CLOSE_MS);
    try {
      for (const path of ["/delete", "/delete_session"]) await this.#post(path, controller.signal);
    } catch {
      // The server ends the session by itself when no request arrives.
    } finally {
      clearTimeout(timer);
    }
  }

  #ping(): void {
    // The next call reports a session that is gone.
    this.#post("/ping", AbortSignal.timeout(PING_MS)).catch(() => undefined);
  }

  async #post(path: string, signal: AbortSignal): Promise<void> {
    const response = await this.#client.send({ method: "POST", path, body: {}, headers: this.#headers, signal });
    await this.#client.text(response, signal);
  }

  async #request(request: Omit<HttpRequest, "headers">): Promise<JsonValue> {
    const response = await this.#client.send({ ...request, headers: this.#headers });
    refuseFull(response.status, response.headers.get("retry-after"), request.path);
    return this.#client.read(response, request);
  }
}

/** Error of a session that the server does not know any more. */
class SessionGone extends MrlmError {}

function lost(error: MrlmError): MrlmError {
  return /status 4(04|10)/.test(error.message) ? new SessionGone("BRIDGE_LOST", error.message) : error;
}

async function sessionId(client: HttpClient, signal: AbortSignal): Promise<string> {
  const path = "/create_session";
  const response = await client.send({ method: "POST", path, body: {}, signal });
  refuseFull(response.status, response.headers.get("retry-after"), path);
  if (response.status >= 400)
    throw statusError(`The answer to ${path}`, response.status, await client.text(response, signal));
  let id = "";
  // The stream is read to its end, so that its connection can be used again.
  for await (const { event, data } of eventsOf(response.body, signal)) if (event === "task_id") id = data;
  if (id !== "") return id;
  throw new MrlmError(
    "BRIDGE_RESPONSE_INVALID",
    `The answer to ${path} has another form: it has no event \`task_id\`.`,
  );
}

/** Throws for the statuses of a server that is full or starts. */
function refuseFull(status: number, retryAfter: string | null, path: string): void {
  if (status !== 429 && status !== 503) return;
  const seconds = Number(retryAfter ?? Number.NaN);
  throw new ServerFull(`The server answers ${path} with status ${status}.`, seconds >= 0 ? seconds * 1_000 : RETRY_MS);
}

import { randomBytes, randomUUID } from "node:crypto";
import { type Exchange, HttpError } from "@mrlm/kit/http";
import { logFault } from "@mrlm/server/sessions";
import { defined, type JsonObject, MrlmError, type StepResult, type TaskId } from "@mrlm/spec";
import { ClientSessions } from "../client-sessions.ts";
import type { Call, Dialect, DialectContext, Route } from "../dialect.ts";
import { environmentOf } from "../environment-of.ts";
import { Episode } from "../episode.ts";
import { observationText } from "../observation-text.ts";
import { requireOneAgent } from "../one-agent.ts";
import { readBody } from "../read-body.ts";
import { errorText, withStatus } from "../status.ts";
import { finalAnswer, modelTurn } from "./model-turn.ts";
import { NemoSession } from "./nemo-session.ts";
import {
  type Choice,
  closeRequest,
  metricsRequest,
  namedSeed,
  row,
  rowWithResponse,
  toolArguments,
} from "./requests.ts";
import { aggregateMetrics } from "./aggregate-metrics.ts";
import { ClientTurns } from "./client-turns.ts";
import { NamedSessions } from "./named-sessions.ts";
import { createParams, promptHash } from "./rows.ts";
import { stepAnswer } from "./step-answer.ts";
import { failed, verified } from "./verification.ts";

/** Clients of this dialect. The ids of their sessions are secrets of 128 bits, or their own. */
const OWNER = "nemo-gym";
const COOKIE = "mrlm_session";
/** Clients send nothing while the model writes. */
const LEASE_FACTOR = 15;
/** Rows in one answer: each is the reset of an episode. */
const MAX_ROWS = 1_000;

/** NeMo Gym: its resources servers (`/seed_session`, a route for each tool, `/verify`) and its Gymnasium family (`/reset`, `/step`). */
export class NemoGymDialect implements Dialect {
  readonly paths: readonly string[];
  readonly routes: readonly Route[];
  readonly #context: DialectContext;
  readonly #sessions: ClientSessions<NemoSession>;
  readonly #named = new NamedSessions();
  readonly #turns = new ClientTurns();
  readonly #leaseMs: number;

  constructor(context: DialectContext) {
    this.#context = context;
    this.#leaseMs = context.sessions.limits.leaseMs * LEASE_FACTOR;
    this.#sessions = new ClientSessions(this.#leaseMs, "Begin an episode by /seed_session or /reset.");
    this.paths = context.environments.length === 1 ? ["/"] : context.environments.map((id) => `/${id}`);
    const hasRow = ({ body }: Call): boolean =>
      typeof body === "object" && body !== null && "responses_create_params" in body;
    const post = (path: string, summary: string, handle: Route["handle"], accepts?: Route["accepts"]): Route => ({
      ...{ method: "POST", path, summary, handle },
      ...defined({ accepts }),
    });
    this.routes = [
      post("/seed_session", "Start the episode of a row", (call) => this.#seed(call)),
      post("/verify", "Answer, and get the reward of the episode", (call) => this.#verify(call)),
      post("/close_session", "End a session", (call) => this.#closeNamed(call)),
      post("/aggregate_metrics", "Means of verified samples", ({ exchange, body }) =>
        exchange.send(200, aggregateMetrics(readBody(metricsRequest, body).verify_responses)),
      ),
      post("/reset", "Start the episode of a row, of the Gymnasium family", (call) => this.#reset(call), hasRow),
      post("/step", "Act once, in the Gymnasium family", (call) => this.#step(call), hasRow),
      post("/close", "End a session of the Gymnasium family", (call) => this.#close(call)),
      {
        method: "GET",
        path: "/reverify_mode",
        summary: "Samples cannot be verified again",
        handle: ({ exchange }) => exchange.send(200, "unsupported"),
      },
      { method: "GET", path: "/rows", summary: "Rows of a data set as JSONL", handle: (call) => this.#rows(call) },
      post("/{tool}", "Call a tool of the episode", (call) => this.#call(call), isOfSession),
    ];
  }

  errorBody(error: MrlmError): unknown {
    return { detail: errorText(error) };
  }

  async close(): Promise<void> {
    await this.#sessions.close();
  }

  async #seed(call: Call): Promise<void> {
    const named = namedSeed.safeParse(call.body);
    if (named.success) {
      const { resources_session_id: id, task_data: task } = named.data;
      const { client } = call.exchange;
      await this.#named.open(client, id, async () => {
        if (!this.#sessions.has(client, id)) await this.#start(call, task, id);
      });
      const answer = { resources_session_id: id, resources_tools: null, sandbox_access: null };
      return call.exchange.send(200, answer, cookieOf(id));
    }
    const { id } = await this.#start(call, readBody(row, call.body));
    call.exchange.send(200, {}, cookieOf(id));
  }

  async #reset(call: Call): Promise<void> {
    const body = readBody(row, call.body);
    const { id, session } = await this.#start(call, body);
    const { first } = session.episode;
    const info = { supports_step_idempotency: true, supports_explicit_close: true };
    call.exchange.send(
      200,
      { observation: hasPrompt(body) ? null : observationText(first.messages), info },
      cookieOf(id),
    );
  }

  /** Starts an episode. It ends if the client disconnects before. */
  async #start(call: Call, choice: Choice, id = randomBytes(16).toString("hex")) {
    const { exchange } = call;
    const { environments, sessions } = this.#context;
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new MrlmError("CANCELLED", "The client disconnected."));
    exchange.response.once("close", onClose);
    try {
      const environment = environmentOf(call, environments);
      const { task, seed, options } = choice;
      const ref = { id: environment, ...(options !== undefined && { options: options as JsonObject }) };
      const description = await sessions.describe(ref);
      requireOneAgent(description, "NeMo Gym");
      if (task === undefined && hasPrompt(choice) && Object.keys(description.splits).length > 0) throw noTask();
      const request = {
        environment: ref,
        leaseMs: this.#leaseMs,
        ...defined({ task, seed, client: exchange.client }),
      };
      const episode = await Episode.start(sessions, OWNER, request, gone.signal);
      const expected = choice.mrlm?.prompt;
      if (expected !== undefined && expected !== promptHash(createParams(episode.first))) {
        await episode.close();
        throw otherPrompt();
      }
      const session = new NemoSession(episode);
      this.#sessions.add(exchange.client, id, session);
      return { id, session };
    } catch (error) {
      throw error instanceof HttpError ? error : withStatus(error);
    } finally {
      exchange.response.off("close", onClose);
    }
  }

  /** A call is one step. Its text is what the model reads, whatever the status of the response. */
  async #call(call: Call): Promise<void> {
    const session = this.#sessionOf(call.exchange);
    const input = readBody(toolArguments, call.body ?? {}) as JsonObject;
    const part = {
      type: "tool-call",
      id: randomUUID(),
      name: call.params["tool"] as string,
      arguments: input,
    } as const;
    const turn = { message: { role: "assistant", parts: [part] }, finishReason: "stop", malformedIds: [] } as const;
    try {
      const { observation } = await session.act(turn);
      sendText(call.exchange, observationText(observation.messages));
    } catch (error) {
      logFault(this.#context.logger, error);
      throw withStatus(error);
    }
  }

  async #verify({ exchange, body }: Call): Promise<void> {
    const { response } = readBody(rowWithResponse, body);
    const request = body as JsonObject;
    const turn = finalAnswer(response);
    let answer: JsonObject;
    try {
      answer = verified(request, await this.#sessionOf(exchange).verify(turn));
    } catch (error) {
      logFault(this.#context.logger, error);
      const known = error instanceof HttpError ? error.error : error;
      answer = failed(request, known);
    }
    if (answer["mask_sample"] === true && this.#context.unscoredIsError)
      throw new HttpError(500, unscored("episode", String(answer["failure_reason"])));
    exchange.send(200, answer);
  }

  async #step({ exchange, body }: Call): Promise<void> {
    const session = this.#sessionOf(exchange);
    const { response, _ng_step_request_id: id } = readBody(rowWithResponse, body);
    const { agent } = session.episode.latest;
    const turn = modelTurn(response);
    let result: StepResult;
    try {
      result = await session.act(turn, id);
    } catch (error) {
      throw withStatus(error);
    }
    const reward = result.rewards[agent];
    // The agents of this family add rewards without a mask.
    if (reward?.scored === false) throw new HttpError(500, unscored("step", `${reward.code}: ${reward.message}`));
    exchange.send(200, stepAnswer(agent, turn, result));
  }

  async #close({ exchange }: Call): Promise<void> {
    const id = cookieIn(exchange);
    if (id !== undefined) await this.#sessions.delete(exchange.client, id);
    exchange.send(200, {});
  }

  async #closeNamed({ exchange, body }: Call): Promise<void> {
    const { resources_session_id: id } = readBody(closeRequest, body);
    const { client } = exchange;
    await this.#named.close(client, id, () => this.#sessions.delete(client, id));
    exchange.send(200, { resources_session_id: id });
  }

  /**
   * Sends `?start=0&stop=100` of `?split=train`: an episode of each task is begun for its first observation. Without tasks each row is a seed. Each client gets
   * one answer at a time, which ends when the client is gone.
   */
  async #rows(call: Call): Promise<void> {
    const { exchange } = call;
    const { catalogue, environments, host } = this.#context;
    const gone = new AbortController();
    exchange.response.once("close", () => gone.abort(new MrlmError("CANCELLED", "The client disconnected.")));
    const client = exchange.client ?? exchange.request.socket.remoteAddress ?? "";
    let giveBack: (() => void) | undefined;
    try {
      giveBack = await this.#turns.take(client, gone.signal);
      const environment = environmentOf(call, environments);
      const description = await host.describe({ id: environment });
      requireOneAgent(description, "NeMo Gym");
      const { determinism } = description;
      const { split, start, stop } = await this.#slice(exchange, environment);
      const lines: string[] = [];
      for (let index = start; index < stop; index++) {
        const { id } = await catalogue.task(environment, split, index);
        const choice = { ...defined({ task: id }), ...(determinism !== "none" && { seed: 0 }) };
        const params = await this.#firstOf(exchange, environment, choice, gone.signal);
        lines.push(
          JSON.stringify({ responses_create_params: params, ...choice, mrlm: { prompt: promptHash(params) } }),
        );
        // A reset may end without a pause, and other clients wait.
        await new Promise(setImmediate);
      }
      sendText(exchange, lines.map((line) => `${line}\n`).join(""), "application/jsonl");
    } catch (error) {
      if (!gone.signal.aborted) throw withStatus(error);
    } finally {
      giveBack?.();
    }
  }

  async #slice(exchange: Exchange, environment: string) {
    const { searchParams: asked } = exchange.url;
    const { catalogue } = this.#context;
    const split = asked.get("split") ?? (await catalogue.splits(environment))[0]?.name ?? "train";
    const count = await catalogue.count(environment, split);
    const start = Number(asked.get("start") ?? 0);
    const stop = Math.min(Number(asked.get("stop") ?? start + 100), count);
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(stop) || start < 0 || stop - start > MAX_ROWS)
      throw new MrlmError(
        "MESSAGE_INVALID",
        `Rows need integers with 0 <= start <= stop, and up to ${MAX_ROWS} in one answer.`,
      );
    return { split, start, stop };
  }

  async #firstOf(
    { client }: Exchange,
    environment: string,
    choice: { readonly task?: TaskId; readonly seed?: number },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const request = { environment: { id: environment }, ...choice, ...defined({ client }) };
    const episode = await Episode.start(this.#context.sessions, OWNER, request, signal);
    try {
      return createParams(episode.first);
    } finally {
      await episode.close();
    }
  }

  #sessionOf(exchange: Exchange): NemoSession {
    return this.#sessions.get(exchange.client, cookieIn(exchange) ?? "");
  }
}

/** Whether a row has a prompt, which its agent gives the model before the episode begins. */
function hasPrompt({ responses_create_params: params }: Choice): boolean {
  return params?.input !== undefined && params.input.length > 0;
}

/** Returns the error of a row whose prompt cannot be that of its episode. */
function noTask(): HttpError {
  const reason = "The row has a prompt and names no task, and the environment would take any.";
  return new HttpError(422, new MrlmError("MESSAGE_INVALID", reason, { hint: "Make rows by GET /rows." }));
}

function otherPrompt(): MrlmError {
  return new MrlmError(
    "DATA_INVALID",
    "The row has another prompt or other tools than its episode: its task, seed or options were changed, or the environment was.",
    { hint: "Make rows by GET /rows again, or leave the key mrlm out of a row." },
  );
}

/** Returns the error of a sample without a reward, where the client has no other way to leave it out. */
function unscored(what: string, reason: string): MrlmError {
  return new MrlmError("ENVIRONMENT_FAILED", `The ${what} is unscored: ${reason}.`);
}

/** Whether a request to an unnamed route has a session, in which it is a call of a tool. */
function isOfSession({ exchange }: Call): boolean {
  return cookieIn(exchange) !== undefined;
}

function cookieIn(exchange: Exchange): string | undefined {
  const value = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]+)`).exec(exchange.header("cookie") ?? "")?.[1];
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return value;
  }
}

function cookieOf(id: string): Record<string, string> {
  return { "set-cookie": `${COOKIE}=${encodeURIComponent(id)}; Path=/; HttpOnly; SameSite=Strict` };
}

function sendText({ response }: Exchange, text: string, type = "text/plain"): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(text);
}

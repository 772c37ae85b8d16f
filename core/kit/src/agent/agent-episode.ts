import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  defined,
  type Action,
  type AgentId,
  type EnvironmentContext,
  type JsonObject,
  MrlmError,
  type Observation,
  type RoleId,
  type StepResult,
  type Task,
} from "@mrlm/spec";
import { ApiError } from "../gateway/api-error.ts";
import { Conversations, type Match } from "../gateway/conversations.ts";
import { hasFormat, withInstructions } from "../gateway/instructions.ts";
import { MAX_INT32 } from "../gateway/parameters.ts";
import { sentMessage } from "../gateway/sent-message.ts";
import type { ReplyTimes } from "../gateway/reply.ts";
import { hash64 } from "../hash.ts";
import { messageText, toolCalls } from "../messages.ts";
import { agentModel } from "./agent-model.ts";
import { unlisten } from "./listener.ts";
import { type ProgramCall, ProgramCalls } from "./program-calls.ts";
import { agentRewards } from "./agent-rewards.ts";
import type { AgentCall, AgentDefinition, AgentEnding, AgentLimits, AgentRun } from "./types.ts";

/** Time of a program between its refused call above the limit and its end, in milliseconds. */
const LAST_MS = 5_000;
/** Longest text of a program's error, in characters. */
const MAX_ERROR = 2_048;

/** Parts of an episode. */
export interface EpisodeParts<Options, Public extends JsonObject, Private extends JsonObject, Opened> {
  readonly definition: AgentDefinition<Options, Public, Private, Opened>;
  readonly limits: AgentLimits;
  readonly roles: Readonly<Record<RoleId, { readonly many?: boolean }>>;
  readonly task: Task<Public, Private>;
  readonly seed: number | null;
  readonly options: Options;
  readonly context: EnvironmentContext<Public, Private>;
  readonly times?: ReplyTimes | undefined;
}

type ProgramEnd = AgentEnding<unknown, JsonObject, JsonObject>["end"];

interface Turn {
  readonly pending: ProgramCall;
  readonly match: Match;
}

interface AnsweredTurn extends Turn {
  readonly endMs: number;
}

/** Run of a program. Each of its calls is an observation, and the action that follows is the answer. */
export class AgentEpisode<Options, Public extends JsonObject, Private extends JsonObject, Opened> {
  readonly #parts: EpisodeParts<Options, Public, Private, Opened>;
  readonly #calls: ProgramCalls;
  readonly #conversations = new Conversations();
  readonly #answered: {
    readonly call: Omit<AgentCall, "isRead">;
    readonly pending: ProgramCall;
    readonly turn: number;
  }[] = [];
  readonly #taken: AnsweredTurn[] = [];
  readonly #beganMs = performance.now();
  /** Agents that were on turn. */
  readonly #agents = new Set<AgentId>();
  /** Agents whose context is full: the host truncates them. */
  readonly #exhausted = new Set<AgentId>();
  readonly #counts = {
    ...{ segments: 0, rewritten: 0, forked: 0, schema_failed: 0 },
    ...{ failed: 0, limited: 0, call_limited: 0, abandoned: 0 },
  };
  /** Calls of each tool, which the program runs itself. */
  readonly #tools = new Map<string, number>();
  readonly #program = new AbortController();
  #changed = Promise.withResolvers<void>();
  #turn: Turn | undefined;
  #end: ProgramEnd | undefined;
  /** Cause of an episode without a score: a fault of the gateway, or of a service that the program used. */
  #fault: unknown;
  #opened!: Opened;
  #running: Promise<string | undefined> | undefined;
  #isRunning = true;
  #isClosed = false;
  /** Limit that the program has met, while it has time to end. */
  #limit: keyof AgentLimits | undefined;
  #lastTimer: NodeJS.Timeout | undefined;
  #usedMs = 0;

  constructor(parts: EpisodeParts<Options, Public, Private, Opened>) {
    this.#parts = parts;
    const { limits, roles, task, seed, definition } = parts;
    this.#calls = new ProgramCalls({
      roles: Object.keys(roles),
      limits,
      rules: definition.calls ?? [],
      id: `chatcmpl-${hash64(`${task.id}/${seed}`).toString(16)}`,
      times: parts.times,
      onCall: () => this.#changed.resolve(),
      onLimit: () => this.#meetLimit(),
      onFault: (error) => (this.#fault = error),
    });
  }

  /** Starts the program and returns its first call. Rejects with AGENT_FAILED if it ends before one. */
  async begin(): Promise<Observation> {
    const run = await this.#open().catch((error: unknown) => {
      this.#stop("The program was not started.");
      // A socket, for example, is gone with the episode.
      throw this.#isClosed ? closedEarly(error) : error;
    });
    if (this.#isClosed) throw closedEarly();
    this.#running = this.#run(run);
    const turn = await this.#next();
    if (turn !== undefined) return this.#observe(turn);
    this.#stop("The program has ended.");
    // The output of a program that met a limit is known at its end.
    const last =
      this.#end?.kind === "limit"
        ? await Promise.race([this.#running, sleep(LAST_MS, undefined, { ref: false })])
        : undefined;
    if (MrlmError.isInstance(this.#fault)) throw this.#fault;
    const reason = `${reasonOf(this.#end)}${last === undefined ? "" : `; ${last}`}`;
    throw new MrlmError("AGENT_FAILED", `The program ended before its first call: ${reason}`);
  }

  /** Answers the waiting call, and returns the next one or the end. */
  async step(action: Action, signal: AbortSignal): Promise<StepResult> {
    this.#answer(action, this.#turn as Turn);
    const turn = await this.#next();
    if (turn === undefined) return this.#finish(signal);
    const observation = this.#observe(turn);
    return { observation, rewards: {}, terminated: {}, truncated: {}, info: this.#info() };
  }

  /** Ends the program, without a score. */
  close(): void {
    this.#isClosed = true;
    this.#stop("The episode was cancelled.");
    this.#changed.resolve();
  }

  /** Returns what the program receives. */
  async #open(): Promise<AgentRun<Options, Public, Opened>> {
    const { definition, task, seed, options, context, roles } = this.#parts;
    const { tasks } = context;
    const shown: EnvironmentContext<Public> = {
      ...context,
      tasks: { ...tasks, get: async (split, index) => ({ ...(await tasks.get(split, index)), private: {} }) },
    };
    const model = agentModel(this.#calls, Object.keys(roles)[0] as RoleId);
    const { signal } = this.#program;
    const run = { task: { id: task.id, public: task.public }, seed, options, context: shown, model, signal };
    this.#opened = (await definition.open?.(run, task)) as Opened;
    return { ...run, opened: this.#opened };
  }

  /** Runs the program. Resolves with its error. */
  async #run(run: AgentRun<Options, Public, Opened>): Promise<string | undefined> {
    try {
      const result = await this.#parts.definition.run(run);
      this.#ended({ kind: "returned", result: result ?? null });
      return undefined;
    } catch (error) {
      if (MrlmError.hasCode(error, "TOOL_FAILED", "SANDBOX_FAILED", "SCORER_FAILED", "AGENT_LISTEN_FAILED"))
        this.#fault ??= error;
      this.#ended({ kind: "failed", error: textOf(error) });
      return textOf(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #ended(end: ProgramEnd): void {
    this.#end ??= this.#limit === undefined ? end : { kind: "limit", limit: this.#limit };
    clearTimeout(this.#lastTimer);
    this.#changed.resolve();
  }

  #meetLimit(): void {
    if (this.#limit !== undefined) return;
    this.#limit = "calls";
    this.#lastTimer = setTimeout(() => this.#ended({ kind: "limit", limit: "calls" }), LAST_MS);
  }

  /** Waits for the next call that an agent can answer; `undefined` after the end of the program. */
  async #next(): Promise<Turn | undefined> {
    const { seconds, totalSeconds } = this.#parts.limits;
    const began = performance.now();
    const left = totalSeconds * 1_000 - this.#usedMs;
    const limit = left < seconds * 1_000 ? "totalSeconds" : "seconds";
    const timer = setTimeout(() => this.#ended({ kind: "limit", limit }), Math.min(left, seconds * 1_000));
    this.#turn = undefined;
    try {
      for (;;) {
        this.#changed = Promise.withResolvers();
        if (this.#isClosed) throw new MrlmError("CANCELLED", "The episode was closed while its program ran.");
        if (this.#end !== undefined) return undefined;
        // Calls that were made together arrive in this turn of the event loop, and are answered in their order.
        if (this.#calls.isWaiting) await nextTurn();
        const pending = this.#end === undefined ? this.#calls.take() : undefined;
        if (pending === undefined) {
          if (!this.#calls.isWaiting && this.#end === undefined && !this.#isClosed) await this.#changed.promise;
          continue;
        }
        const match = this.#conversations.match(
          pending.call,
          pending.role,
          this.#parts.roles[pending.role]?.many ?? false,
        );
        if (match.kind !== "exhausted") return { pending, match };
        pending.answer.reject(contextFull(match.agent));
      }
    } finally {
      clearTimeout(timer);
      this.#usedMs += performance.now() - began;
    }
  }

  #observe(turn: Turn): Observation {
    const { pending, match } = turn;
    const { number, call, codec, bodyHash } = pending;
    this.#turn = turn;
    this.#agents.add(match.agent);
    if (match.kind === "rewritten" || match.kind === "cut") this.#counts.rewritten++;
    if (match.kind === "forked") this.#counts.forked++;
    if (match.kind !== "continues" || match.tools !== undefined) this.#counts.segments++;
    const { callTokens } = this.#parts.limits;
    const maxTokens = Math.min(call.maxTokens ?? Infinity, callTokens);
    const { parameters } = call;
    return {
      agent: match.agent,
      messages: withInstructions(match.messages, call),
      ...(match.isFresh && { isFresh: true }),
      ...(match.tools !== undefined && { tools: match.tools }),
      ...(maxTokens <= MAX_INT32 && { maxTokens }),
      info: { call: { number, wire: codec.wire, match: match.kind, parent: match.parent, bodyHash, parameters } },
    };
  }

  #answer({ message: sampled, finishReason }: Action, { pending, match }: Turn): void {
    const { number, call, role, answer } = pending;
    const turn = this.#taken.push({ pending, match, endMs: performance.now() }) - 1;
    if (finishReason === "exhausted") {
      this.#exhausted.add(match.agent);
      this.#conversations.exhausted(match, role, number);
      answer.reject(contextFull(match.agent));
      return;
    }
    const { message, stop } = sentMessage(sampled, call.stops);
    this.#conversations.answered(match, role, number, message, stop !== undefined);
    const calls = toolCalls(message);
    if (calls.length === 0 && !hasFormat(messageText(message), call)) this.#counts.schema_failed++;
    for (const { name } of calls) this.#tools.set(name, (this.#tools.get(name) ?? 0) + 1);
    const { messages, tools, parameters } = call;
    const made = { number, agent: match.agent, messages, tools, parameters, response: message, match: match.kind };
    this.#answered.push({ call: made, pending, turn });
    answer.resolve({ message, finishReason: stop === undefined ? finishReason : "stop", ...defined({ stop }) });
  }

  async #finish(signal: AbortSignal): Promise<StepResult> {
    const { definition, task, options, context, roles } = this.#parts;
    const end = this.#end as ProgramEnd;
    this.#stop("The episode has ended.");
    if (end.kind === "failed") this.#counts.failed++;
    if (end.kind === "limit") {
      this.#counts.limited++;
      if (end.limit === "calls") this.#counts.call_limited++;
      await nextTurn();
    }
    if (MrlmError.isInstance(this.#fault)) throw this.#fault;
    const calls = this.#answered.map(({ call, pending }) => ({ ...call, isRead: pending.isRead }));
    const rewards = await agentRewards(definition, [...this.#agents], this.#fault, {
      ...{ task, end, calls, opened: this.#opened, options, context, signal },
    });
    if (end.kind === "limit" && this.#isRunning) this.#counts.abandoned++;
    const single = Object.keys(roles).filter((role) => roles[role]?.many !== true);
    const living = new Set([...single, ...this.#agents]).difference(this.#exhausted);
    const ended = Object.fromEntries([...living].map((agent) => [agent, true]));
    return {
      observation: { agent: "", messages: [] },
      rewards,
      terminated: end.kind === "limit" ? {} : ended,
      truncated: end.kind === "limit" ? ended : {},
      info: this.#info(this.#taken.map((_, i) => this.#record(i))),
    };
  }

  /** Revokes the key, answers what waits, and aborts the signal of the program. */
  #stop(reason: string): void {
    clearTimeout(this.#lastTimer);
    this.#calls.close(new ApiError(503, "server_error", reason));
    unlisten(this.#calls);
    this.#program.abort(new MrlmError("CANCELLED", reason));
  }

  /**
   * Returns counts of the episode so far, calls by tool, and the numbers of the turns whose answers the program has not read.
   * @param turns records of all turns, at the end
   */
  #info(turns?: readonly JsonObject[]): JsonObject {
    const wasted = this.#answered.flatMap(({ pending, turn }) => (pending.isRead ? [] : [turn]));
    const tools = Object.fromEntries([...this.#tools].map(([name, calls]) => [name, { calls }]));
    return {
      agent: { ...this.#calls.counts, ...this.#counts, wasted, ...(turns !== undefined && { turns }) },
      ...(this.#tools.size > 0 && { tools }),
    };
  }

  /** Returns the call of a turn, for people. Times are in seconds since the start of the program. */
  #record(turn: number): JsonObject {
    const { pending, match, endMs } = this.#taken[turn] as AnsweredTurn;
    const [at, ...retries] = pending.times.map((time) => seconds(time - this.#beganMs));
    const isFollowed = this.#taken.slice(turn + 1).some((later) => later.match.agent === match.agent);
    const unread = isFollowed ? "superseded" : pending.readers === 0 ? "aborted" : "after-end";
    return {
      ...{ call: pending.number, match: match.kind, parent: match.parent, at: at as number, retries },
      seconds: seconds(endMs - (pending.times[0] as number)),
      ...(!pending.isRead && { unread }),
    };
  }
}

/** Rounds to milliseconds. */
function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

function closedEarly(cause?: unknown): MrlmError {
  return new MrlmError("CANCELLED", "The episode was closed before its program was started.", { cause });
}

function contextFull(agent: AgentId): ApiError {
  const message = `The context of the agent ${agent} is full. Send a shorter history.`;
  return new ApiError(400, "context_length_exceeded", message, { param: "messages" });
}

function reasonOf(end: ProgramEnd | undefined): string {
  if (end?.kind === "failed") return end.error;
  if (end?.kind === "limit") return `it met the limit \`${end.limit}\``;
  const result =
    end?.kind === "returned" && end.result !== null ? ` ${JSON.stringify(end.result).slice(-MAX_ERROR)}` : "";
  return `it returned${result}`;
}

/** Returns the messages of an error and of its causes. */
function textOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each !== undefined && texts.length < 5; each = (each as Error | null)?.cause)
    texts.push(each instanceof Error ? `${each.name}: ${each.message}` : String(each));
  return texts.join("; ").slice(0, MAX_ERROR);
}

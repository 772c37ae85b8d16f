import { isDeepStrictEqual } from "node:util";
import {
  type Action,
  type AgentId,
  type JsonObject,
  type JsonValue,
  type Logger,
  MrlmError,
  type Observation,
  type ResetOptions,
  type SimulatedEnvironment,
  type StepResult,
  unscored,
} from "@mrlm/spec";
import {
  type EnvironmentDescription,
  type EnvironmentSession,
  readTrace,
  type StepOptions,
  type TraceOptions,
} from "@mrlm/spec/host";
import { describeThrown, locateThrown } from "../plugins/error-location.ts";
import type { Phase } from "./deadlines.ts";
import type { CallTrace } from "./environment-context.ts";
import type { PhaseClock } from "./phase-clock.ts";
import { firstAgents } from "./roles.ts";
import type { SessionJudgements } from "./session-judgements.ts";
import type { SessionTools } from "./session-tools.ts";
import { type Checked, checkObservation, checkStep, type Participants, validateResult } from "./validate-result.ts";

/** Environment of a session, prepared by the host. */
export interface SessionPlan {
  readonly description: EnvironmentDescription;
  readonly clock: PhaseClock;
  readonly logger: Logger;
  readonly tools: SessionTools;
  readonly judgements: SessionJudgements;
  readonly trace: CallTrace;
  /** Creates the author's environment. */
  create(): SimulatedEnvironment | Promise<SimulatedEnvironment>;
  /** Checks seed and task, and chooses missing ones. */
  settle(options: ResetOptions): Omit<ResetOptions, "signal">;
  onClose(): void;
}

/** Options of an author's call. The signal is made when it is read. */
interface PhaseOptions {
  readonly signal: AbortSignal;
}

type State = "new" | "active" | "over" | "closed";

/** State of a session between two steps, with that of the author's environment. */
interface SessionState extends JsonObject {
  readonly environment: JsonValue;
  readonly turns: number;
  readonly onTurn: AgentId;
  readonly agents: readonly AgentId[];
  readonly ended: readonly AgentId[];
  readonly exhausted: readonly AgentId[];
}

/** Reason of aborts. It is created once, because a default reason is a new exception with a stack for each session. */
const CLOSED = new MrlmError("SESSION_NOT_FOUND", "The session has been closed.");

/** Error codes of services that an environment uses. The step then has no reward, and the episode ends unscored. */
const UNSCORED_CODES = ["SANDBOX_FAILED", "SCORER_FAILED", "TOOL_FAILED"] as const;

/** Error codes that would end or delay a whole run. If an environment throws one of them, only the environment has failed. */
const NOT_AN_AUTHORS = [
  "CANCELLED",
  "ENGINE_EXITED",
  "ENGINE_UNAVAILABLE",
  "RESOURCE_EXHAUSTED",
  "SERVER_UNAVAILABLE",
  "SESSION_NOT_FOUND",
] as const;

/**
 * Session of an author's environment. Checks the order of calls, deadlines, the turn limit and returned values. After a failure the instance is discarded,
 * and the next reset creates a new one.
 */
export class Session implements EnvironmentSession {
  readonly #plan: SessionPlan;
  readonly #gone = new AbortController();
  #state: State = "new";
  #instance: SimulatedEnvironment | undefined;
  #busy = false;
  #onTurn: AgentId = "";
  #turns = 0;
  #agents: readonly AgentId[] = [];
  #ended = new Set<AgentId>();
  #exhausted = new Set<AgentId>();

  constructor(plan: SessionPlan) {
    this.#plan = plan;
  }

  get description(): EnvironmentDescription {
    return this.#plan.description;
  }

  async reset(options: ResetOptions & TraceOptions): Promise<Observation> {
    const settled = this.#plan.settle(options);
    const observation = await this.#work("setup", "reset", options, async ({ signal }) => {
      this.#state = "over";
      await this.#plan.tools.close();
      this.#plan.judgements.clear();
      const instance = this.#instance ?? (await this.#create(signal));
      return this.#accept(
        "reset",
        checkObservation(await instance.reset({ ...settled, signal }), this.description.roles),
      );
    });
    this.#agents = [...new Set([...firstAgents(this.description.roles), observation.agent])];
    this.#ended = new Set();
    this.#exhausted = new Set();
    this.#turns = 0;
    this.#onTurn = observation.agent;
    this.#state = "active";
    return observation;
  }

  async step(given: Action, options: StepOptions): Promise<StepResult> {
    const action = this.#admit(given, options.isDecoded ?? false);
    const exhausted =
      action.finishReason === "exhausted" ? new Set([...this.#exhausted, action.agent]) : this.#exhausted;
    const before = { roles: this.description.roles, agents: this.#agents, ended: this.#ended, exhausted };
    const returned = await this.#work("step", "step", options, (phase) => this.#stepChecked(action, before, phase));
    const result = this.#limitTurns(this.#withServices(returned, action.agent));
    this.#exhausted = exhausted;
    this.#agents = Object.keys(result.terminated);
    for (const agent of this.#agents) if (result.terminated[agent] || result.truncated[agent]) this.#ended.add(agent);
    this.#onTurn = result.observation.agent;
    if (this.#onTurn === "") this.#state = "over";
    return result;
  }

  /** Returns the state of the author's environment, with that of the session. */
  async snapshot(options: { readonly signal: AbortSignal }): Promise<JsonValue> {
    this.#assertActive("snapshot");
    const environment = await this.#work("step", "snapshot", options, async ({ signal }) =>
      this.#copyState(await this.#snapshotting().snapshot({ signal })),
    );
    const [agents, ended, exhausted] = [[...this.#agents], [...this.#ended], [...this.#exhausted]];
    return { environment, turns: this.#turns, onTurn: this.#onTurn, agents, ended, exhausted } satisfies SessionState;
  }

  async restore(snapshot: JsonValue, options: { readonly signal: AbortSignal }): Promise<void> {
    this.#assertActive("restore");
    const { environment, turns, onTurn, agents, ended, exhausted } = snapshot as SessionState;
    await this.#work("step", "restore", options, ({ signal }) =>
      this.#snapshotting().restore(this.#copyState(environment), { signal }),
    );
    this.#turns = turns;
    this.#onTurn = onTurn;
    this.#agents = agents;
    this.#ended = new Set(ended);
    this.#exhausted = new Set(exhausted);
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#gone.abort(CLOSED);
    this.#plan.onClose();
    const instance = this.#instance;
    this.#instance = undefined;
    try {
      await this.#dispose(instance);
    } catch (error) {
      throw this.#blame("close", error);
    }
  }

  /** Throws unless an episode is between two steps, in an environment with snapshots. */
  #assertActive(call: string): void {
    const { id, snapshots } = this.description;
    if (snapshots !== true) throw new MrlmError("INTERNAL", `Environment ${id} has no ${call}.`);
    if (this.#state === "closed") throw this.#closedError();
    if (this.#busy) throw this.#busyError(call);
    if (this.#state !== "active")
      throw new MrlmError("EPISODE_ENDED", `Environment ${id} got a ${call} outside of an episode.`);
  }

  /** Returns the environment. Throws ENVIRONMENT_FAILED if it lacks a method of snapshots. */
  #snapshotting(): Required<Pick<SimulatedEnvironment, "snapshot" | "restore">> {
    const instance = this.#instance;
    if (instance?.snapshot !== undefined && instance.restore !== undefined)
      return instance as Required<SimulatedEnvironment>;
    const { id } = this.description;
    throw new MrlmError("ENVIRONMENT_FAILED", `Environment ${id} states snapshots, and lacks snapshot() or restore().`);
  }

  /** Copies the state that an author returned, which later steps may change. Throws ENVIRONMENT_FAILED for one that is no JSON value. */
  #copyState(state: JsonValue | undefined): JsonValue {
    const copy = state === undefined ? undefined : (JSON.parse(JSON.stringify(state)) as JsonValue);
    if (copy !== undefined && isDeepStrictEqual(copy, state)) return copy;
    throw new MrlmError(
      "ENVIRONMENT_FAILED",
      `Environment ${this.description.id} states snapshots, and its snapshot() returned no JSON value. -0, numbers that are not finite and undefined members are none.`,
    );
  }

  /** Throws unless the action is allowed in the present state. */
  #admit(given: Action, isDecoded: boolean): Action {
    const { id: environment } = this.description;
    if (this.#state === "closed") throw this.#closedError();
    if (this.#busy) throw this.#busyError("step");
    if (this.#state === "new")
      throw new MrlmError("EPISODE_ENDED", `Environment ${environment} was stepped before any reset.`);
    if (this.#state === "over")
      throw new MrlmError(
        "EPISODE_ENDED",
        `The episode in environment ${environment} has ended; a step came after its end.`,
      );
    const action = isDecoded && isFullyChecked(given) ? given : this.#checkForm(given);
    if (given.agent !== this.#onTurn) {
      throw new MrlmError(
        "STEP_OUT_OF_ORDER",
        `Agent "${given.agent}" acted in environment ${environment} while it was "${this.#onTurn}"'s turn.`,
        {
          hint: "Act as the agent that the last observation names.",
        },
      );
    }
    if (action.finishReason === "exhausted" && action.message.parts.length > 0)
      throw new MrlmError(
        "OPTIONS_INVALID",
        `Agent "${given.agent}" acted in environment ${environment} with a message and the finish reason exhausted.`,
        { hint: "An agent whose context is full produces no message: send one without parts." },
      );
    return action;
  }

  /** Copies an action without unknown members. Throws OPTIONS_INVALID for a malformed one. */
  #checkForm(given: Action): Action {
    const checked = validateResult<Action>("action", given);
    if ("value" in checked) return checked.value;
    throw new MrlmError(
      "OPTIONS_INVALID",
      `An action for environment ${this.description.id} is malformed: ${checked.problem}.`,
    );
  }

  async #work<T>(
    phase: Phase,
    call: "reset" | "step" | "snapshot" | "restore",
    { signal: caller, trace }: { readonly signal: AbortSignal } & TraceOptions,
    work: (options: PhaseOptions) => Promise<T>,
  ): Promise<T> {
    if (this.#state === "closed") throw this.#closedError();
    if (this.#busy) throw this.#busyError(call);
    this.#busy = true;
    this.#plan.trace.current = trace === undefined ? undefined : readTrace(trace);
    try {
      return await this.#plan.clock.run(phase, [caller, this.#gone.signal], work);
    } catch (error) {
      this.#giveUp();
      if (caller.aborted && MrlmError.hasCode(error, "CANCELLED")) throw error;
      throw this.#blame(call, error);
    } finally {
      this.#busy = false;
      this.#plan.trace.current = undefined;
    }
  }

  async #stepChecked(action: Action, before: Participants, options: PhaseOptions): Promise<StepResult> {
    let returned: unknown;
    try {
      returned = await this.#instance?.step(action, options);
    } catch (error) {
      if (!MrlmError.hasCode(error, ...UNSCORED_CODES) || options.signal.aborted) throw error;
      returned = this.#unscoredStep(error);
    }
    return this.#accept("step", checkStep(returned, before));
  }

  /** Returns the result of a step whose reward could not be computed: the episode ends for all agents. */
  #unscoredStep({ code, message }: MrlmError): unknown {
    const living = this.#agents.filter((agent) => !this.#ended.has(agent));
    const all = <T>(value: T): Record<AgentId, T> => Object.fromEntries(living.map((agent) => [agent, value]));
    return {
      observation: { agent: "", messages: [] },
      rewards: all(unscored(code, message)),
      terminated: {},
      truncated: all(true),
    };
  }

  /** Adds the usage of tools, and the judgements and grades of this step, to its `info`. */
  #withServices(result: StepResult, agent: AgentId): StepResult {
    const tools = this.#plan.tools.usage();
    const judgements = this.#plan.judgements.take(this.#turns, agent);
    if (tools === undefined && judgements === undefined) return result;
    const info = {
      ...result.info,
      ...(tools === undefined ? {} : { tools }),
      ...(judgements === undefined ? {} : { judgements }),
    };
    return { ...result, info };
  }

  #limitTurns(result: StepResult): StepResult {
    this.#turns++;
    const { maxTurns } = this.description;
    if (maxTurns === 0 || this.#turns < maxTurns || result.observation.agent === "") return result;
    const isOver = (agent: AgentId): boolean => this.#ended.has(agent) || result.terminated[agent] === true;
    const truncated = Object.fromEntries(
      Object.keys(result.terminated).map((agent) => [agent, !isOver(agent) || result.truncated[agent] === true]),
    );
    return { ...result, truncated, observation: { ...result.observation, agent: "" } };
  }

  #accept<T>(call: string, checked: Checked<T>): T {
    if ("value" in checked) return checked.value;
    throw new MrlmError(
      "ENVIRONMENT_FAILED",
      `Environment ${this.description.id} returned something malformed from ${call}: ${checked.problem}.`,
    );
  }

  /** Discards the instance, whose state is unknown. */
  #giveUp(): void {
    const instance = this.#instance;
    this.#instance = undefined;
    if (this.#state !== "closed") this.#state = "over";
    this.#disposeQuietly(instance);
  }

  async #create(signal: AbortSignal): Promise<SimulatedEnvironment> {
    const instance = await this.#plan.create();
    if (signal.aborted) this.#disposeQuietly(instance);
    else this.#instance = instance;
    signal.throwIfAborted();
    return instance;
  }

  /** Closes an instance, then the tools of its episode. */
  async #dispose(instance: SimulatedEnvironment | undefined): Promise<void> {
    try {
      if (instance?.close !== undefined) await this.#plan.clock.run("close", [], () => instance.close?.());
    } finally {
      await this.#plan.clock.run("close", [], () => this.#plan.tools.close());
    }
  }

  #disposeQuietly(instance: SimulatedEnvironment | undefined): void {
    const { logger } = this.#plan;
    this.#dispose(instance).catch((error: unknown) =>
      logger.warn(`Closing environment ${this.description.id} after a failure failed too.`, {
        error: locateThrown(error),
      }),
    );
  }

  /** Converts an error of the author's code to ENVIRONMENT_FAILED. Errors of the host and of its services keep their code. */
  #blame(call: string, error: unknown): MrlmError {
    if (this.#gone.signal.aborted && call !== "close") return this.#closedError();
    if (MrlmError.isInstance(error) && !MrlmError.hasCode(error, ...NOT_AN_AUTHORS)) return error;
    const reason = MrlmError.isInstance(error) ? `${error.code}: ${error.message}` : describeThrown(error);
    return new MrlmError("ENVIRONMENT_FAILED", `Environment ${this.description.id} threw in ${call}: ${reason}`, {
      cause: error,
    });
  }

  #closedError(): MrlmError {
    return new MrlmError("SESSION_NOT_FOUND", `This session of environment ${this.description.id} has been closed.`);
  }

  #busyError(call: string): MrlmError {
    return new MrlmError(
      "SESSION_BUSY",
      `Environment ${this.description.id} got a ${call} while it was still working on an earlier call.`,
    );
  }
}

/**
 * Whether the decoder of the wire checks all of an action. It accepts messages of any role, and arguments of tools with
 * numbers that are infinite in JavaScript.
 */
export function isFullyChecked({ message }: Action): boolean {
  return message.role === "assistant" && message.parts.every(({ type }) => type !== "tool-call");
}

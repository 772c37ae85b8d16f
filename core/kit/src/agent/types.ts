import type {
  AgentId,
  Determinism,
  EnvironmentContext,
  EnvironmentDefinition,
  JsonObject,
  JsonValue,
  Message,
  Reward,
  Role,
  RoleId,
  Task,
  TaskId,
  ToolDefinition,
} from "@mrlm/spec";
import type { Match } from "../gateway/conversations.ts";

/** Limits of the program of an episode. */
export interface AgentLimits {
  /** Calls, refused ones of a full context too. Default: 100. */
  readonly calls: number;
  /** Tokens of an answer. Default: those of the run. */
  readonly callTokens: number;
  /** Time of the program between an answer and its next call. Default: 300. */
  readonly seconds: number;
  /** Time of the program in an episode, without its waits for the policy. Default: 1,800. */
  readonly totalSeconds: number;
  /** Calls that wait at once; more are refused with status 429. Default: 64. */
  readonly waiting: number;
  /** Bytes of the body of a call. Default: 8 MiB. */
  readonly bodyBytes: number;
}

/** Rule for calls: a role, or a fixed answer for which nothing is sampled (titles, checks of a topic). */
export type CallRule = {
  /** All given members must hold. */
  readonly when: {
    /** Text of the system messages. */
    readonly system?: RegExp;
    /** Name of a tool that the call offers. */
    readonly tool?: string;
    /** Name of the schema of the answer. */
    readonly schema?: string;
  };
} & ({ readonly role: RoleId } | { readonly answer: string });

/** Model in the hands of a program: an address of OpenAI's chat API and Responses, and of Anthropic's Messages. */
export interface AgentModel {
  /** First role; that of `role("worker")` is `worker`. */
  readonly name: string;
  /** `http://mrlm.invalid/v1`, which `fetch` answers. */
  readonly baseURL: string;
  /** Key of this episode alone. */
  readonly apiKey: string;
  /** Answers calls without a socket. */
  readonly fetch: typeof fetch;
  /** Returns the model of another role. */
  role(id: RoleId): AgentModel;
  /**
   * Opens a loopback address, for clients that ignore `fetch` and for processes; or a Unix socket of this episode alone, which other keys do not open. Rejects with
   * AGENT_LISTEN_FAILED.
   * @param socket.baseURL address by which programs reach the socket; default `http://localhost/v1`
   */
  listen(socket?: {
    readonly socketPath: string;
    readonly baseURL?: string;
  }): Promise<{ readonly baseURL: string; readonly env: Readonly<Record<string, string>> }>;
}

/** Episode in the hands of a program. */
export interface AgentRun<Options, Public extends JsonObject, Opened = undefined> {
  readonly task: { readonly id: TaskId; readonly public: Public };
  /** `null` in an environment whose determinism is `none`. */
  readonly seed: number | null;
  readonly options: Options;
  /** Services that the definition requires. Its tasks have no private part. */
  readonly context: EnvironmentContext<Public>;
  readonly model: AgentModel;
  /** Result of `open`. */
  readonly opened: Opened;
  /** Aborted at the end of the episode. */
  readonly signal: AbortSignal;
}

/** Answered call of a program. */
export interface AgentCall {
  readonly number: number;
  readonly agent: AgentId;
  /** Whole history as the program sent it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Parameters without an effect. */
  readonly parameters: JsonObject;
  /** Answer as the program received it. */
  readonly response: Message;
  readonly match: Match["kind"];
  /** Whether the program has read the answer, or a part of it. */
  readonly isRead: boolean;
}

/** End of a program, for its score. */
export interface AgentEnding<Options, Public extends JsonObject, Private extends JsonObject, Opened = undefined> {
  readonly task: Task<Public, Private>;
  readonly end:
    | { readonly kind: "returned"; readonly result: JsonValue | null }
    | { readonly kind: "failed"; readonly error: string }
    | { readonly kind: "limit"; readonly limit: keyof AgentLimits };
  readonly calls: readonly AgentCall[];
  readonly opened: Opened;
  readonly options: Options;
  readonly context: EnvironmentContext<Public, Private>;
  readonly signal: AbortSignal;
}

type Scored = number | Reward | Readonly<Record<AgentId, number | Reward>>;

/** Definition of an environment whose episodes are runs of a program. The other fields are those of `EnvironmentDefinition`. */
export interface AgentDefinition<Options, Public extends JsonObject, Private extends JsonObject, Opened = undefined>
  extends
    Omit<
      EnvironmentDefinition<Options, Public, Private>,
      "create" | "demonstrate" | "determinism" | "maxTurns" | "tasks"
    >,
    Required<Pick<EnvironmentDefinition<Options, Public, Private>, "tasks">> {
  /** Default: one agent. With `many`, each conversation of the program is an agent of its role. */
  readonly roles?: Readonly<Record<RoleId, Role>>;
  /** Default `replayable`: the program does the same after the same answers. */
  readonly determinism?: Determinism;
  /** The first rule that holds. Default: the name of the model in the request is the role, else the header `x-mrlm-agent`, else the first role. */
  readonly calls?: readonly CallRule[];
  /** A function if they depend on the options or the task: then `deadlines` states the longest. */
  readonly limits?:
    | Partial<AgentLimits>
    | ((options: Options, task: Task<Public, Private>) => Partial<AgentLimits> | Promise<Partial<AgentLimits>>);
  /**
   * Opens what the program and its score share, such as a workspace, before the time of the program begins. Its error is that of the reset: the program has not
   * failed.
   */
  open?(episode: Omit<AgentRun<Options, Public>, "opened">, task: Task<Public, Private>): Promise<Opened>;
  /** Runs the program. Private fields of the task do not reach it. */
  run(episode: AgentRun<Options, Public, Opened>): Promise<JsonValue | void> | JsonValue | void;
  /**
   * Returns the reward, once for each episode with a call: a number or reward for all agents, or one by agent or role. `undefined` for a program that failed or met a limit is the
   * least of `rewardRange`.
   */
  score(end: AgentEnding<Options, Public, Private, Opened>): Scored | undefined | Promise<Scored | undefined>;
  /**
   * Returns the answers of a worked solution, one for each call of the program: calls of tools, and texts. The program runs with them. Required for SFT; for programs with one
   * conversation.
   */
  solve?(task: Task<Public, Private>, options: Options): readonly (string | Message)[];
}

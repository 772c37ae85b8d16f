import type { AgentId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { JudgeRequest } from "./judge.ts";
import type { Observation } from "./observation.ts";
import type { ScoreRequest } from "./scorer.ts";
import type { ToolEpisode } from "./tool.ts";

/** Values that exist only while a plugin is checked. Examples that need one are functions of it. */
export interface ExampleContext {
  /** Base URL of the server that sends the replies of {@link PluginExamples.endpoint}; empty without them. */
  readonly baseUrl: string;
  /** Absolute path of an empty folder. Nothing may be left in it after the close. */
  readonly directory: string;
}

/** Request of the plugin to a model during a check. */
export interface ExampleModelRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export type ExampleScoreRequest = Omit<ScoreRequest, "messages" | "signal" | "queued">;

/** Question with answers whose grades are known. */
export interface ScorerExample {
  /** Parts of the request beside the answer. */
  readonly request: Omit<ExampleScoreRequest, "answer">;
  /** Correct answers, at least one. Each earns more than each wrong one. */
  readonly right: readonly [string, ...string[]];
  /** Wrong answers, at least one. A wrong answer has a reward: it is not unscored. */
  readonly wrong: readonly [string, ...string[]];
  /** Answers that cannot be read or decided. They are wrong: each has a reward, and earns no more than any wrong answer. */
  readonly unreadable?: readonly string[];
  /** Whole requests whose `expected` cannot be read: unscored. */
  readonly badReference?: readonly ExampleScoreRequest[];
}

/** Conversation that a judge can judge. */
export interface JudgeExample {
  readonly request: JudgeRequest;
  /** Agent that earns more than every other one; omitted where the rewards are not known. */
  readonly best?: AgentId;
}

export interface ToolCallExample {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Calls of the tools of a toolset. */
export interface ToolExamples {
  /** A successful call of each tool, in an order in which they succeed in one new episode. */
  readonly calls: readonly ToolCallExample[];
  /** Files of the episodes, by path. */
  readonly files?: ToolEpisode["files"];
  /** Call that changes the state of its episode, and call whose result shows it. Omitted by tools without state. */
  readonly state?: { readonly change: ToolCallExample; readonly read: ToolCallExample };
  /** Call that runs for at least some seconds unless it is aborted; default: the last of `calls`. */
  readonly slow?: ToolCallExample;
}

/** Episode of a policy. */
export interface PolicyExamples {
  /** Options of the player; default none. */
  readonly options?: JsonObject | ((context: ExampleContext) => JsonObject);
  /** Observations of the agent, in the order of its turns; default: three short questions. */
  readonly observations?: readonly Omit<Observation, "agent">[];
}

/** Stages of an algorithm that train a model of a few parameters within some seconds. The environment rewards the share of the letter "a" in an answer. */
export interface AlgorithmExamples {
  /** Options under which the metric changes. */
  readonly options: JsonObject;
  /** Metric that shows that the model learns; default `reward/mean`. */
  readonly metric?: string;
  /** Least change of the metric from the first to the last iteration; negative if it falls. Default 0.1. */
  readonly change?: number;
  /** Options that the algorithm refuses with CONFIG_INVALID, each merged over `options`. `sampling` stands for that of the stage. */
  readonly invalid?: readonly JsonObject[];
}

/** Inputs with which `mrlm check` and the contract suites try the provisions of a plugin, like the fixtures of an environment. Nothing else reads them. */
export interface PluginExamples {
  /** Options of the plugin; default none. */
  readonly options?: JsonObject | ((context: ExampleContext) => JsonObject);
  /** Reply of a model. The check then runs an OpenAI-compatible server on loopback, so that a provision that needs a model can be checked without one. */
  endpoint?(request: ExampleModelRequest): string;
  /** By versioned id, like the provisions: `math@2`. */
  readonly scorers?: Readonly<Record<string, readonly [ScorerExample, ...ScorerExample[]]>>;
  readonly judges?: Readonly<Record<string, readonly [JudgeExample, ...JudgeExample[]]>>;
  readonly tools?: Readonly<Record<string, ToolExamples>>;
  readonly policies?: Readonly<Record<string, PolicyExamples>>;
  readonly algorithms?: Readonly<Record<string, AlgorithmExamples>>;
}

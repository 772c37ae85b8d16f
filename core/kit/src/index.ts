/** Entry for authors of environments, tools, scorers, judges and policies. Imports no tokenizer. */

export {
  type Action,
  type AgentId,
  type Demonstration,
  type Determinism,
  type EnvironmentContext,
  type EnvironmentDefinition,
  type Factory,
  type Fixture,
  type FixturePolicy,
  type FixtureRequest,
  type Grade,
  type ImagePart,
  defined,
  isObject,
  type JsonObject,
  type JsonValue,
  type Judge,
  type JudgedTurn,
  type Judgement,
  type JudgeRequest,
  type Logger,
  type Message,
  MrlmError,
  type Observation,
  type OpenToolset,
  type Part,
  type Plugin,
  type PluginContext,
  type PluginExamples,
  type Policy,
  type PolicyEpisode,
  type PolicySource,
  type RandomStream,
  type Requirement,
  type ResetOptions,
  type Reward,
  roleOf,
  type Sandbox,
  type SandboxResult,
  type SandboxSession,
  type Score,
  score,
  type Scorer,
  type ScoreRequest,
  type SimulatedEnvironment,
  SINGLE_AGENT,
  type StepResult,
  type Task,
  type TaskId,
  type TaskSource,
  type TextPart,
  type Tool,
  type ToolCallOptions,
  type ToolCallPart,
  type ToolDefinition,
  type ToolResult,
  type Toolset,
  type ToolsetEpisode,
  type Unscored,
  unscored,
} from "@mrlm/spec";
export { answerPlace, placeAnswer, requestAnswer } from "./answer-place.ts";
export { callTools } from "./call-tools.ts";
export { divide } from "./data/divide.ts";
export { invalidRow } from "./data/invalid-row.ts";
export { listedTasks } from "./data/listed-tasks.ts";
export { type JsonlRow, readJsonl } from "./data/read-jsonl.ts";
export { defineEnvironment, definePlugin } from "./define-plugin.ts";
export { generatedTasks } from "./generated-tasks.ts";
export { messageText, textMessage, toolCalls } from "./messages.ts";
export { Places, unqueued } from "./places.ts";
export { randomStream } from "./random.ts";
export { observe, singleStep } from "./single-agent.ts";
export { singleTurn } from "./single-turn.ts";
export { anyTask, taskById } from "./task-ids.ts";
export { tool, toolError, toolset } from "./tool.ts";
export { callMessage, toolEnvironment } from "./tool-environment.ts";

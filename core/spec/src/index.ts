/** Entry for authors of plugins, in the order of the data flow: policy -> action -> environment -> observation, reward -> trajectory -> algorithm. */

export { isObject, type JsonObject, type JsonValue } from "./json.ts";
export { defined } from "./defined.ts";
export { isTooDeep, parseJson, parseStrictJson, TOO_DEEP } from "./parse-json.ts";
export { type AgentId, type RoleId, roleOf, SINGLE_AGENT, type TaskId } from "./id.ts";
export type {
  ImagePart,
  MalformedCallPart,
  Message,
  MessageRole,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "./message.ts";
export type {
  OpenToolset,
  Tool,
  ToolCallOptions,
  ToolDefinition,
  ToolEpisode,
  ToolResult,
  Toolset,
  ToolsetEpisode,
} from "./tool.ts";
export type { OpenPolicy, Policy } from "./policy.ts";
export type { PolicyEpisode, PolicySource } from "./policy-source.ts";
export type { PolicyId } from "./player.ts";
export type { Action } from "./action.ts";
export type { ResetOptions, SimulatedEnvironment, StepResult } from "./environment.ts";
export type { Observation } from "./observation.ts";
export { type Reward, type Score, score, type Unscored, unscored } from "./reward.ts";
export type { Task, TaskSource } from "./task.ts";
export type { Demonstration } from "./demonstration.ts";
export type { Determinism } from "./determinism.ts";
export type { Fixture, FixturePolicy, FixtureRequest } from "./fixture.ts";
export type { EnvironmentContext } from "./environment-context.ts";
export type { EnvironmentDefinition, Requirement, Role, ScriptedPolicy, ServiceId } from "./environment-definition.ts";
export type { RewardModel } from "./reward-model.ts";
export type { Grade, Scorer, ScoreRequest } from "./scorer.ts";
export type { GradingOptions, Judge, JudgedTurn, Judgement, JudgeRequest } from "./judge.ts";
export type {
  Sandbox,
  SandboxError,
  SandboxLimits,
  SandboxResult,
  SandboxSession,
  SandboxSessionEnd,
  SandboxTestReport,
  SandboxTestResult,
} from "./sandbox.ts";
export type {
  ExecOptions,
  ExecResult,
  ShellResult,
  Workspace,
  WorkspaceLimits,
  WorkspaceOptions,
  Workspaces,
  WorkspaceShell,
} from "./workspace.ts";
export type { Renderer, SupervisedSequence } from "./renderer.ts";
export type {
  AgentEnd,
  AgentTrajectory,
  Segment,
  StopReason,
  TokenSpan,
  Trajectory,
  TrajectoryGroup,
  TurnRecord,
} from "./trajectory.ts";
export type { RolloutSampling } from "./rollout-sampling.ts";
export type { Credit, WeightVersion } from "./learning.ts";
export type { IterationReport, Mean, Metrics } from "./metrics.ts";
export type { TrackedRow, TrackedRun, Tracker, TrackerDefinition } from "./tracker.ts";
export type { AlgorithmContext, AlgorithmDefinition, AlgorithmRun, TrainingEnvironment } from "./algorithm.ts";
export type { ModelId } from "./model.ts";
export type {
  EngineSequence,
  EngineUnit,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  LearningEngine,
  OptimStepOptions,
  OptimStepResult,
  OutputSelection,
  UnitGradients,
  UnitLoss,
  UnitOutputs,
} from "./engine.ts";
export type { Factory, Plugin, PluginContext } from "./plugin.ts";
export type {
  AlgorithmExamples,
  ExampleContext,
  ExampleModelRequest,
  JudgeExample,
  PluginExamples,
  PolicyExamples,
  ScorerExample,
  ToolCallExample,
  ToolExamples,
} from "./plugin-examples.ts";
export type { RandomStream } from "./random.ts";
export type { Logger } from "./logger.ts";
export { type ErrorCode, isErrorCode } from "./errors/error-code.ts";
export { fileFault } from "./errors/file-fault.ts";
export { MrlmError } from "./errors/mrlm-error.ts";

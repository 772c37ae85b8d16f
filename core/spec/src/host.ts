/** Entry for hosts and for plugins that are part of one: environment hosts, episode stores, engines, samplers, sandboxes, launchers. */

export { parseVersionedId } from "./id.ts";
export type { PastVersions, PlayedBy, Player, PlayerRef } from "./player.ts";
export { MAX_REWARD } from "./reward.ts";
export type { RewardSharing, SharedReward } from "./reward-sharing.ts";
export type { EpisodeTools } from "./environment-context.ts";
export type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentPackage,
  EnvironmentRef,
  EnvironmentServerState,
  EnvironmentSession,
  OpenOptions,
  ScriptedPlayer,
  StepOptions,
  TraceOptions,
} from "./environment-host.ts";
export { readTrace } from "./trace.ts";
export type { GradeRecord } from "./scorer.ts";
export type { JudgementRecord } from "./judge.ts";
export type {
  EncodedFile,
  SandboxCallOptions,
  SandboxLayers,
  SandboxSessionOptions,
  SandboxTest,
  SandboxTestSuite,
  SandboxVerdict,
  Submission,
} from "./sandbox.ts";
export type { Extension, ParseContext } from "./renderer.ts";
export type { RolloutRequest, Rollouts } from "./rollouts.ts";
export {
  type BufferCounts,
  type Cohort,
  type EpisodePurpose,
  type EpisodeStore,
  type LearnerId,
  type Lease,
  type Member,
  MEMBER_LOST_MS,
  type PlannedGroup,
  type PlayedRecord,
  type StoreEvent,
  type TakenBatch,
  type TakePosition,
  type TakeRecord,
  type TakeRule,
  type WeightsRow,
} from "./episode-store.ts";
export type { EpisodeBatch, EpisodeSource, PlayPlan } from "./learning.ts";
export type { CreatedModel, CreateModelOptions, LoraOptions, ModelInfo, ModelRole, ModelSource } from "./model.ts";
export type {
  AverageOptions,
  Engine,
  EngineInfo,
  InFlight,
  LoadOptions,
  PublishResult,
  SampledChunk,
  SampleOptions,
  Sampler,
  SampleRequest,
  SampleResult,
  SamplerHost,
  SamplingParams,
  Trainer,
} from "./engine.ts";
export type { MemoryEstimate, MemoryWorkload } from "./memory.ts";
export type {
  DistributedOptions,
  EngineInstallation,
  EngineProcess,
  EngineProvider,
  JoinedRanks,
  StoredModel,
} from "./engine-provider.ts";
export type {
  ExternalSampler,
  SamplerCapabilities,
  SamplerInfo,
  SamplerSource,
  UpdateResult,
  WeightsSource,
  WeightsUpdate,
} from "./external-sampler.ts";
export {
  type Launcher,
  type LauncherDefinition,
  PART_KINDS,
  type PartEnd,
  type PartEvent,
  type PartKind,
  type PartProcess,
  type RunPart,
} from "./launcher.ts";
export type { StoreDefinition } from "./store-definition.ts";

export { ERROR_CODES } from "./errors/codes.ts";
export { nearestName } from "./errors/nearest-name.ts";
export { PLUGIN_API_VERSION, type PluginManifest, type ProvisionKind } from "./plugin.ts";

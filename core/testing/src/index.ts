export { type BareEnvironment, type BareServices, bareEnvironment, barePluginContext } from "./bare-environment.ts";
export * from "./bigram/engine.ts";
export { BigramExternalSampler } from "./bigram/external-sampler.ts";
export { type Authority, type Certificate, type CertificateOptions, createAuthority } from "./certificates.ts";
export { type ChatServer, type ChatServerReply, type ChatServerRequest, startChatServer } from "./chat-server.ts";
export { type EnvironmentContractOptions, environmentContract } from "./environment-contract/environment-contract.ts";
export type { Check } from "./check/check.ts";
export { checksOf } from "./check/check-part.ts";
export type { Acknowledgements } from "./check/run-check.ts";
export { FINDINGS, type FindingCode, type FindingEntry, type Severity } from "./check/codes.ts";
export { Defect } from "./check/defect.ts";
export { type Finding, isOpen, type Place } from "./check/finding.ts";
export type { PackageSubject } from "./check/package-subject.ts";
export type { PluginPart, PluginSubject } from "./check/plugin-part.ts";
export { measureEnvironment, type MeasuredSpeed } from "./check-plugin/measure-environment.ts";
export { SourcePlaces } from "./check-plugin/source-places.ts";
export { recordBehaviour } from "./check-plugin/record-behaviour.ts";
export {
  type CheckEvent,
  checkPlugin,
  type CheckPluginOptions,
  findingOf,
  isNamed,
  partsOf,
} from "./check-plugin/check-plugin.ts";
export { type EngineContractOptions, engineContract } from "./engine-contract/engine-contract.ts";
export { engineOverGrpc } from "./engine-over-grpc.ts";
export type { TestRegistry } from "./test-registry.ts";
export { type Transport, inProcess, overGrpc } from "./transports.ts";
export { type PolicyContractOptions, policyContract } from "./policy-contract/policy-contract.ts";
export { duelEnvironment } from "./training/duel-environment.ts";
export { lettersEnvironment, type LettersReward } from "./training/letters-environment.ts";
export { RoundingEngine, toBfloat16 } from "./training/rounding-engine.ts";
export { recordingEngine, type RecordedLearning, type RecordedSample } from "./training/recording-engine.ts";
export {
  type BigramOutcome,
  type BigramTraining,
  trainBigram,
  trainBigramInterrupted,
} from "./training/train-bigram.ts";
export { type JudgeContractOptions, judgeContract } from "./judge-contract/judge-contract.ts";
export { type LauncherContractOptions, launcherContract } from "./launcher-contract/launcher-contract.ts";
export { type PluginContractOptions, pluginContract } from "./plugin-contract/plugin-contract.ts";
export type { ContractOptions } from "./provision/register-checks.ts";
export { type ScorerContractOptions, scorerContract } from "./scorer-contract/scorer-contract.ts";
export { type ToolContractOptions, toolContract } from "./tool-contract/tool-contract.ts";
export { type AlgorithmContractOptions, algorithmContract } from "./algorithm-contract/algorithm-contract.ts";
export { type SandboxContractOptions, sandboxContract } from "./sandbox-contract/sandbox-contract.ts";
export {
  type HostileCorpus,
  type HostileOutcome,
  type HostileProgram,
  hostileComplaints,
  readCorpora,
  readCorpus,
  runHostile,
  sampleOf,
} from "./sandbox-contract/hostile-corpus.ts";

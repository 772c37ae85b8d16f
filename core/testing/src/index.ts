export { type BareEnvironment, bareEnvironment, barePluginContext } from "./bare-environment.ts";
export { BigramEngine } from "./bigram/engine.ts";
export { BigramExternalSampler } from "./bigram/external-sampler.ts";
export { createAuthority } from "./certificates.ts";
export { type ChatServer, type ChatServerReply, type ChatServerRequest, startChatServer } from "./chat-server.ts";
export { environmentContract } from "./environment-contract/environment-contract.ts";
export { searchCheats } from "./check-plugin/search-cheats.ts";
export { checksOf } from "./check/check-part.ts";
export type { FindingCode } from "./check/codes.ts";
export type { Finding } from "./check/finding.ts";
export type { PluginSubject } from "./check/plugin-part.ts";
export { WatchedInputs } from "./contract/watched-inputs.ts";
export { measureEnvironment, type MeasuredSpeed } from "./check-plugin/measure-environment.ts";
export { SourcePlaces } from "./check/source-places.ts";
export { recordBehaviour } from "./check-plugin/record-behaviour.ts";
export { checkPlugin, findingOf, isNamed, partsOf } from "./check-plugin/check-plugin.ts";
export { engineContract } from "./engine-contract/engine-contract.ts";
export { engineOverGrpc } from "./engine-over-grpc.ts";
export { type Transport, inProcess, overGrpc } from "./transports.ts";
export { duelEnvironment } from "./training/duel-environment.ts";
export { lettersEnvironment, type LettersReward } from "./training/letters-environment.ts";
export { RoundingEngine, toBfloat16 } from "./training/rounding-engine.ts";
export { recordingEngine } from "./training/recording-engine.ts";
export {
  type BigramOutcome,
  type BigramTraining,
  trainBigram,
  trainBigramInterrupted,
} from "./training/train-bigram.ts";
export { judgeContract } from "./judge-contract/judge-contract.ts";
export { launcherContract } from "./launcher-contract/launcher-contract.ts";
export { pluginContract } from "./plugin-contract/plugin-contract.ts";
export { toolContract } from "./tool-contract/tool-contract.ts";
export { workspaceContract } from "./workspace-contract/workspace-contract.ts";
export { sandboxContract } from "./sandbox-contract/sandbox-contract.ts";
export {
  type HostileProgram,
  hostileComplaints,
  readCorpora,
  readCorpus,
  runHostile,
  sampleOf,
} from "./sandbox-contract/hostile-corpus.ts";
export { Defect } from "./check/defect.ts";
export { policyContract } from "./policy-contract/policy-contract.ts";
export { scorerContract } from "./scorer-contract/scorer-contract.ts";
export { algorithmContract } from "./algorithm-contract/algorithm-contract.ts";

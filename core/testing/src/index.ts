export * from "./bigram/engine.ts";
export { type EnvironmentContractOptions, type TestRegistry, environmentContract } from "./contract/environment-contract.ts";
export { type EngineContractOptions, engineContract } from "./engine-contract/engine-contract.ts";
export { engineOverGrpc } from "./engine-over-grpc.ts";
export { type Transport, inProcess, overGrpc } from "./transports.ts";
export { lettersEnvironment, type LettersReward } from "./training/letters-environment.ts";
export { type BigramOutcome, type BigramTraining, trainBigram, trainBigramInterrupted } from "./training/train-bigram.ts";
export { type SandboxContractOptions, sandboxContract } from "./sandbox-contract/sandbox-contract.ts";
export { type HostileOutcome, type HostileProgram, readCorpus, runHostile } from "./sandbox-contract/hostile-corpus.ts";

export * from "./bigram/engine.ts";
export { type EnvironmentContractOptions, type TestRegistry, environmentContract } from "./contract/environment-contract.ts";
export { type EngineContractOptions, engineContract } from "./engine-contract/engine-contract.ts";
export { engineOverGrpc } from "./engine-over-grpc.ts";
export { type Transport, inProcess, overGrpc } from "./transports.ts";
export { lettersEnvironment, type LettersReward } from "./training/letters-environment.ts";
export { type BigramOutcome, type BigramTraining, trainBigram, trainBigramInterrupted } from "./training/train-bigram.ts";

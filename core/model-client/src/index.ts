/** Client of OpenAI-compatible endpoints: failover, one deadline over all attempts, a budget, recorded answers and structured output. */
export { createModelClient, type ModelClientSystem } from "./create-model-client.ts";
export { dataRules, encodeData, type EncodedData } from "./encode-data.ts";
export type { Completion, CompletionOptions, CompletionRequest, JsonOutput, ModelClient } from "./model-client.ts";
export { TimeLimit } from "./time-limit.ts";
export { modelClientOptions } from "./options.ts";

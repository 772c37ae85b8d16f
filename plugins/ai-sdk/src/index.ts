/** Connects environments and policies with the AI SDK, and with libraries of evaluation. */
export { fromAiTools } from "./from-ai-tools.ts";
export { fromPromptfoo } from "./from-promptfoo.ts";
export { fromScorer } from "./from-scorer.ts";
export { createMrlm, type MrlmMetadata } from "./provider.ts";
export { toAiTools } from "./to-ai-tools.ts";

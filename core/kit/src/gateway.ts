/** Entry for servers that answer as a model: OpenAI's chat API and Responses, and Anthropic's Messages. */

export { ApiError, invalidParameter } from "./gateway/api-error.ts";
export { ChatChoice } from "./gateway/chat-choice.ts";
export { parseChatRequest } from "./gateway/chat-request.ts";
export type { Codec, Delta, ModelCall } from "./gateway/codec.ts";
export { codecOf } from "./gateway/codecs.ts";
export { withInstructions } from "./gateway/instructions.ts";
export { modelList } from "./gateway/model-list.ts";
export { MAX_INT32, parseBody, samplingParameters, unsupported } from "./gateway/parameters.ts";
export { outputParts } from "./gateway/responses-request.ts";
export { findStop, partialStop } from "./gateway/stop-strings.ts";

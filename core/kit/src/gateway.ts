/** Entry for servers and environments that answer programs as a model: the chat API of OpenAI, and the conversations of a program. */

export { ApiError, invalidParameter } from "./gateway/api-error.ts";
export { ChatChoice, type Delta } from "./gateway/chat-choice.ts";
export { type ChatRequest, parseChatRequest } from "./gateway/chat-request.ts";
export { Conversations } from "./gateway/conversations.ts";
export { withInstructions } from "./gateway/instructions.ts";
export {
  MAX_INT32,
  parseBody,
  type SamplingParameters,
  samplingParameters,
  unsupported,
} from "./gateway/parameters.ts";
export { findStop, partialStop } from "./gateway/stop-strings.ts";

/** Entry for renderers, which turn messages into tokens and back: chat templates and tokenizers. */

export { characterTokenizerFiles } from "./renderer/character-tokenizer.ts";
export { type ChatRenderer, chatRenderer } from "./renderer/chat-renderer.ts";
export type { CompletionStream } from "./renderer/completion-stream.ts";
export { TOOL_FORMAT_NAMES } from "./renderer/formats/formats.ts";
export { TokenText } from "./renderer/token-text.ts";
export { loadTokenizer, type TextTokenizer } from "./renderer/tokenizer.ts";

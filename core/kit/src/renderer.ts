/** Entry for renderers, which turn messages into tokens and back: chat templates and tokenizers. */

export { characterTokenizerFiles } from "./renderer/character-tokenizer.ts";
export { chatRenderer } from "./renderer/chat-renderer.ts";
export { parseCompletion } from "./renderer/parse-completion.ts";
export { loadTokenizer, type TextTokenizer } from "./renderer/tokenizer.ts";

/** Messages to tokens and back: chat templates and tokenizers. */

export { characterTokenizerFiles } from "./renderer/character-tokenizer.ts";
export { chatRenderer } from "./renderer/chat-renderer.ts";
export { parseSaid } from "./renderer/parse-said.ts";
export { loadTokenizer, type TextTokenizer } from "./renderer/tokenizer.ts";

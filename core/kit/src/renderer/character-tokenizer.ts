import { isToolMarker } from "./formats/formats.ts";

/** Markers of roles and of the end of a turn. Each is one special token. */
const MARKERS = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"];

/** All printable ASCII characters and the newline. */
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("") + "\n";

/** Names of the tools with those of their arguments: `calculator(expression)`. Small models read the full definitions slowly, and learn the calls from examples. */
const TOOLS_TEMPLATE =
  "{% if tools %}{{ '<|system|>' }}{% for tool in tools %}{{ tool.function.name + '(' }}" +
  "{% for name, schema in (tool.function.parameters.properties or {}) | items %}{{ name }}{% if not loop.last %}{{ ', ' }}{% endif %}{% endfor %}" +
  "{{ ')' }}{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}{{ '<|end|>' }}{% endif %}";

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

/**
 * Returns the Hugging Face files of a tokenizer with one token for each character, each role marker and each tag. Its chat template shows tools if a tag is the
 * marker of a format of calls, such as `<tool_call>`. It is a byte-level BPE without merges,
 * because `AutoTokenizer` replaces any other kind by the tokenizer of the model family.
 */
export function characterTokenizerFiles(
  options: { readonly alphabet?: string; readonly tags?: readonly string[] } = {},
): Record<string, Uint8Array> {
  const tags = options.tags ?? ["<answer>", "</answer>"];
  const characters = [...new Set(options.alphabet ?? ASCII)];
  const tokens = [...MARKERS, ...tags, ...characters.flatMap(byteSymbols)];
  const vocab = Object.fromEntries([...new Set(tokens)].map((token, id) => [token, id]));
  const added = [...MARKERS, ...tags].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    // Decoded text keeps tags, which are part of a response, and omits markers.
    special: id < MARKERS.length,
  }));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges: [],
    },
  };
  const config = {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|end|>",
    pad_token: "<|pad|>",
    clean_up_tokenization_spaces: false,
    chat_template: tags.some(isToolMarker) ? TOOLS_TEMPLATE + CHAT_TEMPLATE : CHAT_TEMPLATE,
  };
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);
  return { "tokenizer.json": encode(tokenizer), "tokenizer_config.json": encode(config) };
}

/** Returns the symbols of byte-level tokenizers for the UTF-8 bytes of a character: printable Latin-1 is unchanged, other bytes are moved past 255. */
function byteSymbols(character: string): string[] {
  return [...new TextEncoder().encode(character)].map((byte) => String.fromCodePoint(BYTE_TO_SYMBOL[byte] as number));
}

const BYTE_TO_SYMBOL: readonly number[] = (() => {
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let moved = 0;
  return Array.from({ length: 256 }, (_, byte) => (printable(byte) ? byte : 256 + moved++));
})();

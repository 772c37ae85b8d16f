import { characterTokenizerFiles, chatRenderer, loadTokenizer } from "../../src/renderer.ts";
import type { ToolFormatName } from "../../src/renderer/formats/formats.ts";
import type { ChatRenderer, TextTokenizer } from "../../src/renderer.ts";

/** Model of a format: a tokenizer with its markers, and a template that renders calls as the templates of its family do. */
export interface Model {
  readonly name: ToolFormatName;
  readonly renderer: ChatRenderer;
  readonly tokenizer: TextTokenizer;
  /** Markers of the format that are special tokens. */
  readonly specials: readonly string[];
}

interface Family {
  /** Markers that are special tokens. */
  readonly specials: readonly string[];
  /** Markers that are tokens and not special. */
  readonly tags: readonly string[];
  /** Jinja that renders `message.content` and `message.tool_calls`. */
  readonly message: string;
}

const EACH = "{% for call in message.tool_calls %}{% set f = call.function %}";
const CONTENT = "{{ message.content or '' }}{% if message.tool_calls %}";
const LINE = "{% if message.content or not loop.first %}{{ '\\n' }}{% endif %}";
const END = "{% endfor %}{% endif %}";

export const FAMILIES: Readonly<Record<ToolFormatName, Family>> = {
  hermes: {
    specials: [],
    tags: ["<tool_call>", "</tool_call>", "<think>", "</think>"],
    message: `${CONTENT}${EACH}${LINE}{{ '<tool_call>\\n{"name": "' + f.name + '", "arguments": ' + (f.arguments | tojson) + '}\\n</tool_call>' }}${END}`,
  },
  "qwen-coder": {
    specials: [],
    tags: ["<tool_call>", "</tool_call>", "<think>", "</think>"],
    message:
      `${CONTENT}${EACH}${LINE}{{ '<tool_call>\\n<function=' + f.name + '>\\n' }}` +
      "{% for key, value in f.arguments | items %}{{ '<parameter=' + key + '>\\n' + value + '\\n</parameter>\\n' }}{% endfor %}" +
      `{{ '</function>\\n</tool_call>' }}${END}`,
  },
  mistral: {
    specials: ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
    tags: [],
    message: `${CONTENT}${EACH}{% if call.id | length != 9 %}{{ raise_exception('id') }}{% endif %}{{ '[TOOL_CALLS]' + f.name + '[CALL_ID]' + call.id + '[ARGS]' + (f.arguments | tojson) }}${END}`,
  },
  "llama-json": {
    specials: ["<|python_tag|>"],
    tags: [],
    message:
      "{% if message.tool_calls %}{% if message.tool_calls | length > 1 %}{{ raise_exception('one call only') }}{% endif %}" +
      `{% set f = message.tool_calls[0].function %}{{ '{"name": "' + f.name + '", "parameters": ' + (f.arguments | tojson) + '}' }}` +
      "{% else %}{{ message.content }}{% endif %}",
  },
  "llama-pythonic": {
    specials: ["<|python_start|>", "<|python_end|>", "<|python_tag|>"],
    tags: [],
    // Renders no calls, so that the renderer writes them: the template of Llama 4 cannot render all JSON as Python.
    message: "{{ message.content }}",
  },
  deepseek: {
    specials: [
      "<｜tool▁calls▁begin｜>",
      "<｜tool▁calls▁end｜>",
      "<｜tool▁call▁begin｜>",
      "<｜tool▁sep｜>",
      "<｜tool▁call▁end｜>",
    ],
    tags: ["<think>", "</think>"],
    message: `${CONTENT}{{ '<｜tool▁calls▁begin｜>' }}${EACH}{{ '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + f.name + '\\n\`\`\`json\\n' + (f.arguments | tojson) + '\\n\`\`\`<｜tool▁call▁end｜>' }}{% endfor %}{{ '<｜tool▁calls▁end｜>' }}{% endif %}`,
  },
  kimi: {
    specials: [
      "<|tool_calls_section_begin|>",
      "<|tool_calls_section_end|>",
      "<|tool_call_begin|>",
      "<|tool_call_argument_begin|>",
      "<|tool_call_end|>",
    ],
    tags: ["<think>", "</think>"],
    message: `${CONTENT}{{ '<|tool_calls_section_begin|>' }}${EACH}{{ '<|tool_call_begin|>' + call.id + '<|tool_call_argument_begin|>' + (f.arguments | tojson) + '<|tool_call_end|>' }}{% endfor %}{{ '<|tool_calls_section_end|>' }}{% endif %}`,
  },
  pythonic: { specials: [], tags: [], message: "{{ message.content }}" },
};

/** Characters of the tests: a byte-level tokenizer divides the last ones into several tokens. */
const ALPHABET = `${Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("")}\n\r\t\u0000\uE000é字😀｜▁`;

/** Returns the template of a family, with the tools of the conversation before its messages. */
export function templateOf(name: ToolFormatName, prompt = "<|assistant|>"): string {
  return (
    "{% if tools %}{{ '<|system|>' + (tools | tojson) + '<|end|>' }}{% endif %}{% for message in messages %}{{ '<|' + message.role + '|>' }}" +
    "{% if message.tool_call_id %}{{ message.tool_call_id + ' ' }}{% endif %}" +
    `{% if message.reasoning_content %}{{ '<think>' + message.reasoning_content + '</think>' }}{% endif %}${FAMILIES[name].message}{{ '<|end|>' }}{% endfor %}` +
    `{% if add_generation_prompt %}{{ '${prompt}' }}{% endif %}`
  );
}

/** Template that renders neither tools nor calls, and every role. */
export const WITHOUT_TOOLS =
  "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

/** Template like that of Gemma 2: users and answers in turn, and no system message. */
export const IN_TURN =
  "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" +
  "{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate') }}{% endif %}" +
  "{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

/** Returns the model of a format. */
export function modelOf(
  name: ToolFormatName,
  template = templateOf(name),
  added: readonly string[] = [],
  mergeMessages = false,
): Model {
  const { specials, tags } = FAMILIES[name];
  const special = [...specials, ...added];
  const files = characterTokenizerFiles({ alphabet: ALPHABET, tags: [...tags, ...special] });
  const json = JSON.parse(new TextDecoder().decode(files["tokenizer.json"])) as {
    added_tokens: { content: string; special: boolean }[];
  };
  for (const token of json.added_tokens) if (special.includes(token.content)) token.special = true;
  const tokenizerFiles = {
    ...files,
    "tokenizer.json": new TextEncoder().encode(JSON.stringify(json)),
    "chat_template.jinja": new TextEncoder().encode(template),
  };
  return {
    name,
    specials: special,
    renderer: chatRenderer({ tokenizerFiles, eosTokenIds: [], toolFormat: name, mergeMessages }),
    tokenizer: loadTokenizer(tokenizerFiles),
  };
}

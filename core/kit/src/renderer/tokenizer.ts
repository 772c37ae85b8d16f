import type { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { MrlmError } from "@mrlm/spec";
import { decodeUtf8 } from "../data/decode-utf8.ts";
import { Tokenizer } from "./packages.ts";
import { SpelledMarkers } from "./spelled-markers.ts";

/** Turns text into token ids and back by the tokenizer.json of a model. */
export interface TextTokenizer {
  /**
   * Encodes text. Special tokens in the text become their ids, except in text from {@link escape}; no special tokens are added. Throws TOKENIZER_INVALID
   * for characters that have no tokens.
   */
  encode(text: string): Int32Array;
  /**
   * Escapes content for a template, so that special tokens in it are encoded as ordinary text.
   * @param kept special tokens that stay
   */
  escape(content: string, kept?: ReadonlySet<string>): string;
  /** Reverts {@link escape}. */
  unescape(text: string): string;
  /** Returns true if text after this token has the same tokens as by itself. */
  divides(token: string): boolean;
  /** Decodes tokens, including special tokens. */
  decode(tokens: Int32Array): string;
  /** Decodes tokens without special tokens (markers of roles and ends of turns). */
  decodeText(tokens: Int32Array): string;
  idOf(token: string): number | undefined;
  /** Special tokens (markers of roles, ends of turns, calls) by their ids. */
  readonly specials: ReadonlyMap<number, string>;
  /** Largest id + 1. */
  readonly vocabSize: number;
  /** Greatest number of characters of a token. A text has at least as many tokens as it has pieces of this length. */
  readonly longestToken: number;
  /** Content of tokenizer_config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly chatTemplate: string | undefined;
  /** Template for conversations with tools, if the model has one. */
  readonly toolTemplate: string | undefined;
}

/** Symbols of byte-level tokenizers for the 256 bytes. */
const BYTE_SYMBOLS = 256;

/** Loads a tokenizer from the files of a Hugging Face directory (`tokenizer.json`, `tokenizer_config.json`, `chat_template.jinja`). */
export function loadTokenizer(files: Readonly<Record<string, Uint8Array>>): TextTokenizer {
  const definition = parseFile(files, "tokenizer.json");
  if (definition === undefined) throw new MrlmError("TOKENIZER_INVALID", "The model has no tokenizer.json.");
  const config = parseFile(files, "tokenizer_config.json") ?? {};
  const make = (from: Record<string, unknown>): HuggingFaceTokenizer => {
    try {
      return new Tokenizer(from, config);
    } catch (cause) {
      throw new MrlmError("TOKENIZER_INVALID", `tokenizer.json cannot be used: ${(cause as Error).message}`, { cause });
    }
  };
  const tokenizer = make(definition);
  const markers = new SpelledMarkers(definition, config);
  let renamed: HuggingFaceTokenizer | undefined;
  let highest = -1;
  let longestToken = 1;
  for (const [token, id] of tokenizer.get_vocab(true)) {
    highest = Math.max(highest, id);
    longestToken = Math.max(longestToken, token.length);
  }
  const losesText = mayLoseText(definition);
  const decode = (tokens: Int32Array, skipSpecial: boolean): string =>
    tokens.length === 0
      ? ""
      : tokenizer.decode(Array.from(tokens), { skip_special_tokens: skipSpecial, clean_up_tokenization_spaces: false });

  return {
    encode(rendered) {
      const isEscaped = markers.isIn(rendered);
      if (isEscaped) renamed ??= make(markers.renamed());
      const [encoder, input, text] = isEscaped
        ? [renamed as HuggingFaceTokenizer, markers.forRenamed(rendered), markers.unescape(rendered)]
        : [tokenizer, rendered, rendered];
      const tokens = Int32Array.from(encoder.encode(input, { add_special_tokens: false }).ids);
      if (losesText && decode(tokens, false) !== text) throw untokenisable(text, decode(tokens, false), tokenizer);
      return tokens;
    },
    escape: (content, kept) => markers.escape(content, kept),
    unescape: (text) => markers.unescape(text),
    divides: (token) => divides(definition, token),
    decode: (tokens) => decode(tokens, false),
    decodeText: (tokens) => decode(tokens, true),
    idOf: (token) => tokenizer.token_to_id(token),
    vocabSize: highest + 1,
    longestToken,
    config,
    specials: markers.tokens,
    ...templatesOf(files, config),
  };
}

interface AddedToken {
  readonly content: string;
  readonly normalized?: boolean;
  readonly rstrip?: boolean;
}

/** Returns true for an added token that is found before normalisation, removes no space after it, and is no part of another one's text. */
function divides(definition: Readonly<Record<string, unknown>>, token: string): boolean {
  const added = (definition["added_tokens"] ?? []) as readonly AddedToken[];
  const found = added.find(({ content }) => content === token);
  const isFirstOther = JSON.stringify(definition["pre_tokenizer"] ?? null).includes('"prepend_scheme":"first"');
  if (found === undefined || found.rstrip === true || token !== token.trimEnd() || isFirstOther) return false;
  if (found.normalized !== false && (definition["normalizer"] ?? null) !== null) return false;
  const starts = Array.from({ length: token.length - 1 }, (_, i) => token.slice(0, i + 1));
  return added.every(
    ({ content }) =>
      content === token || (!content.includes(token) && !starts.some((start) => content.endsWith(start))),
  );
}

function parseFile(files: Readonly<Record<string, Uint8Array>>, name: string): Record<string, unknown> | undefined {
  const bytes = files[name];
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Record<string, unknown>;
  } catch (cause) {
    throw new MrlmError("TOKENIZER_INVALID", `${name} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the chat templates of a model: files of their own, or entries of tokenizer_config.json. */
function templatesOf(
  files: Readonly<Record<string, Uint8Array>>,
  config: Readonly<Record<string, unknown>>,
): Pick<TextTokenizer, "chatTemplate" | "toolTemplate"> {
  const entry = config["chat_template"];
  const named = Array.isArray(entry) ? (entry as readonly { name: string; template: string }[]) : [];
  const find = (file: string, name: string): string | undefined =>
    files[file] === undefined
      ? named.find((template) => template.name === name)?.template
      : decodeUtf8(files[file], file, { code: "TOKENIZER_INVALID" });
  const chatTemplate = find("chat_template.jinja", "default") ?? (typeof entry === "string" ? entry : undefined);
  return { chatTemplate, toolTemplate: find("additional_chat_templates/tool_use.jinja", "tool_use") };
}

/** Returns true for a byte-level vocabulary without all bytes, which drops characters without an error. */
function mayLoseText(definition: Readonly<Record<string, unknown>>): boolean {
  const model = definition["model"] as {
    type?: string;
    vocab?: Record<string, number>;
    unk_token?: string | null;
    byte_fallback?: boolean;
  };
  if (model?.type !== "BPE" || model.byte_fallback === true) return false;
  const symbols = Object.keys(model.vocab ?? {}).filter((token) => [...token].length === 1);
  return symbols.length < BYTE_SYMBOLS;
}

function untokenisable(text: string, kept: string, tokenizer: HuggingFaceTokenizer): MrlmError {
  const lost = [...missingFrom(text, kept)].filter((character) => {
    const ids = tokenizer.encode(character, { add_special_tokens: false }).ids;
    return (
      ids.length === 0 ||
      tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false }) !== character
    );
  });
  const named = lost.map((character) => JSON.stringify(character)).join(", ");
  return new MrlmError(
    "TOKENIZER_INVALID",
    `The tokenizer has no token for ${named || "part of the text"} in ${JSON.stringify(text.slice(0, 80))}.`,
    {
      hint: "Use a tokenizer whose alphabet covers the texts of the conversations.",
    },
  );
}

/** Returns the characters of a text that are missing in `kept`, its decoded form. */
function missingFrom(text: string, kept: string): Set<string> {
  const left = [...kept];
  const missing = new Set<string>();
  let next = 0;
  for (const character of text) {
    if (character === left[next]) next++;
    else missing.add(character);
  }
  return missing;
}

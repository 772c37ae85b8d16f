import { SourceMap, type SourceMapPayload, stripTypeScriptTypes } from "node:module";

/** JavaScript generated from TypeScript. */
export interface Stripped {
  readonly code: string;
  /** Maps a line and column of `code`, both from 1, to a line of the original; absent if lines are equal. */
  readonly lineAt?: (line: number, column: number) => number;
}

/** Syntax error of TypeScript. */
export class TypeScriptError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.name = "SyntaxError";
    this.line = line;
  }
}

const UNSUPPORTED = "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
/** Codes of Node's errors about sources. Any other error concerns the reader, a WebAssembly module that all sources of a process share. */
const ABOUT_SOURCES = ["ERR_INVALID_TYPESCRIPT_SYNTAX", UNSUPPORTED];

let isBroken = false;

/** Whether a source, such as a deeply nested one, has broken the reader of TypeScript. The process must then be replaced. */
export function isReaderBroken(): boolean {
  return isBroken;
}

const SOURCE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/;

/** Removes types; converts enums, namespaces and parameter properties to JavaScript. */
export function stripTypes(code: string, file: string): Stripped {
  try {
    return { code: stripTypeScriptTypes(code, { sourceUrl: file }).replace(/\n\n\/\/# sourceURL=[^\n]*$/, "") };
  } catch (error) {
    if ((error as { code?: string }).code !== UNSUPPORTED) throw typeScriptError(error as Error, file);
  }
  try {
    return mapped(stripTypeScriptTypes(code, { mode: "transform", sourceMap: true }));
  } catch (error) {
    throw typeScriptError(error as Error, file);
  }
}

function mapped(text: string): Stripped {
  const encoded = SOURCE_MAP.exec(text)?.[1] ?? "";
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, "base64").toString()) as SourceMapPayload);
  return {
    code: text.replace(SOURCE_MAP, ""),
    lineAt: (line, column) =>
      ((map.findEntry(line - 1, column - 1) as { originalLine?: number }).originalLine ?? line - 1) + 1,
  };
}

/** Makes an error with its line: Node writes the position before the stack, as `submission.ts:3`. */
function typeScriptError(error: Error & { readonly code?: string }, file: string): TypeScriptError {
  if (!ABOUT_SOURCES.includes(error.code ?? "")) {
    isBroken = true;
    return new TypeScriptError("The source cannot be read as TypeScript: it is nested too deeply.", undefined);
  }
  const [first = ""] = String(error.stack).split("\n", 1);
  const line = first.startsWith(`${file}:`) ? Number(first.slice(file.length + 1)) : undefined;
  return new TypeScriptError(error.message, line);
}

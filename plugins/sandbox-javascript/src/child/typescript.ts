import { SourceMap, type SourceMapPayload, stripTypeScriptTypes } from "node:module";

/** JavaScript made of TypeScript. */
export interface Stripped {
  readonly code: string;
  /** Line of the original for a line and column of `code`, both from 1; left out where lines are the same. */
  readonly lineAt?: (line: number, column: number) => number;
}

/** TypeScript that cannot be read. */
export class TypeScriptError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.name = "SyntaxError";
    this.line = line;
  }
}

const UNSUPPORTED = "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
/** What Node says of sources. Anything else is about its reader, a WebAssembly module that all sources of a process share. */
const ABOUT_SOURCES = ["ERR_INVALID_TYPESCRIPT_SYNTAX", UNSUPPORTED];

let isBroken = false;

/** Whether a source has broken the reader of TypeScript, as one that is nested too deeply does: it reads no other one any more, and the process must go. */
export function isReaderBroken(): boolean {
  return isBroken;
}

const SOURCE_MAP = /\n\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/;

/** The program without its types; enums, namespaces and parameter properties become code. */
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

/** Node puts the place before the stack: `submission.ts:3`. */
function typeScriptError(error: Error & { readonly code?: string }, file: string): TypeScriptError {
  if (!ABOUT_SOURCES.includes(error.code ?? "")) {
    isBroken = true;
    return new TypeScriptError("The source cannot be read as TypeScript: it is nested too deeply.", undefined);
  }
  const [first = ""] = String(error.stack).split("\n", 1);
  const line = first.startsWith(`${file}:`) ? Number(first.slice(file.length + 1)) : undefined;
  return new TypeScriptError(error.message, line);
}

import type { SandboxError } from "@mrlm/spec";
import type { Submission } from "@mrlm/spec/host";
import type ivm from "isolated-vm";
import { describeParentError } from "./parent-error.ts";
import { stripTypes, TypeScriptError, type Stripped } from "./typescript.ts";

/** Compiled submission. */
export type Compiled = { readonly file: string; readonly lineAt?: Stripped["lineAt"] } & (
  | { readonly kind: "script"; readonly script: ivm.Script }
  | { readonly kind: "module"; readonly module: ivm.Module }
);

/** Error of a submission that cannot be compiled; `error` comes from the attempt that got farthest. */
export class CompileError extends Error {
  readonly error: SandboxError;

  constructor(error: SandboxError) {
    super(error.message);
    this.error = error;
  }
}

const PARAMETERS = "exports, require, module, __filename, __dirname";
const OPENING = `(function (${PARAMETERS}) {`;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
/** Words that only a module may contain. */
const MODULE_WORDS = /\b(?:import|export|await)\b/;

/** Returns the file name that traces show. */
export function fileOf({ dialect }: Submission): string {
  return dialect === "typescript" ? "submission.ts" : "submission.js";
}

/**
 * Compiles a submission as Node would: as a CommonJS module, else as an ES module; as JavaScript, else as TypeScript. Its last statement
 * passes the values of `names` to our code.
 */
export function compile(isolate: ivm.Isolate, submission: Submission, names: readonly string[]): Compiled {
  const file = fileOf(submission);
  const values = `[${names
    .filter((name) => IDENTIFIER.test(name))
    .map((name) => `typeof ${name} === "undefined" ? undefined : ${name}`)
    .join(", ")}]`;
  const failures: SandboxError[] = [];
  for (const dialect of submission.dialect === undefined ? ["javascript", "typescript"] : [submission.dialect]) {
    try {
      const text = withoutHashbang(submission.code);
      const { code, ...rest } = dialect === "typescript" ? stripTypes(text, file) : { code: text };
      return { file, ...rest, ...compileJavaScript(isolate, code, file, values) };
    } catch (error) {
      failures.push(
        error instanceof TypeScriptError ? describeTypeScriptError(error, file) : describeParentError(error, file),
      );
    }
  }
  throw new CompileError(failures.reduce((best, failure) => ((failure.line ?? 0) > (best.line ?? 0) ? failure : best)));
}

/** Compiles code of a session: a script, whose declarations stay; code that awaits becomes a function, whose declarations do not. */
export function compileEvaluation(isolate: ivm.Isolate, { code, dialect }: Submission, file: string): ivm.Script {
  const failures: SandboxError[] = [];
  const stripped = (): string => stripTypes(code, file).code;
  const awaiting = (text: string): string => `(async () => {${text}\n})()`;
  const readings = [
    () => code,
    stripped,
    () => `(async () => (${code}\n))()`,
    () => awaiting(code),
    () => awaiting(stripped()),
  ];
  for (const reading of dialect === "typescript" ? readings.slice(1) : readings) {
    try {
      return isolate.compileScriptSync(reading(), { filename: file });
    } catch (error) {
      failures.push(
        error instanceof TypeScriptError ? describeTypeScriptError(error, file) : describeParentError(error, file),
      );
    }
  }
  throw new CompileError(failures[0] as SandboxError);
}

/** Replaces `#!/usr/bin/env node` by a comment of the same length. */
function withoutHashbang(code: string): string {
  return code.replace(/^\uFEFF?#!/, (mark) => mark.replace("#!", "//"));
}

type Unit =
  | { readonly kind: "script"; readonly script: ivm.Script }
  | { readonly kind: "module"; readonly module: ivm.Module };

function compileJavaScript(isolate: ivm.Isolate, code: string, file: string, values: string): Unit {
  try {
    const script = isolate.compileScriptSync(`${OPENING}${code}\n;return ${values};})`, {
      filename: file,
      columnOffset: -OPENING.length,
    });
    return { kind: "script", script };
  } catch (error) {
    if (!MODULE_WORDS.test(code)) throw error;
    return compileModule(isolate, code, file, values, error);
  }
}

function compileModule(isolate: ivm.Isolate, code: string, file: string, values: string, asScript: unknown): Unit {
  try {
    return { kind: "module", module: isolate.compileModuleSync(`${code}\n;$bind(${values});`, { filename: file }) };
  } catch (error) {
    // Code that is not a module gets the first error: the error as a module would be about `return` or strict mode.
    throw /^\s*(?:import|export)\b/m.test(code) || /\bawait\b/.test(String(asScript)) ? error : asScript;
  }
}

function describeTypeScriptError({ name, message, line }: TypeScriptError, file: string): SandboxError {
  const place = line === undefined ? "" : `\n    at ${file}:${line}`;
  return { name, message, trace: `${name}: ${message}${place}`, ...(line === undefined ? {} : { line }) };
}

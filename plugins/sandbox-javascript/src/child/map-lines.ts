import type { SandboxError } from "@mrlm/spec";
import type { Compiled } from "./compile.ts";

/** The same error with the lines of what was written, where TypeScript had to be rewritten. */
export function mapLines(error: SandboxError, { file, lineAt }: Pick<Compiled, "file" | "lineAt">): SandboxError {
  if (lineAt === undefined) return error;
  const place = new RegExp(`${file.replace(".", "\\.")}:(\\d+):(\\d+)`, "g");
  let line: number | undefined;
  const trace = error.trace.replace(place, (_, lineText: string, columnText: string) => {
    const mapped = lineAt(Number(lineText), Number(columnText));
    line ??= mapped;
    return `${file}:${mapped}`;
  });
  return { ...error, trace, ...(line === undefined ? {} : { line }) };
}

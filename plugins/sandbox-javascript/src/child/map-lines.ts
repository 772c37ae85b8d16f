import type { SandboxError } from "@mrlm/spec";
import type { Compiled } from "./compile.ts";

/** Maps the lines of an error to the original source if TypeScript was rewritten. */
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

import { basename } from "node:path";

/** Frames of V8's stacks: `at step (file:///home/me/environment/index.ts:12:7)`. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?\/[^()]+|[A-Za-z]:\\[^()]+):(\d+):(\d+)\)?$/;

/** Describes a value thrown by an author's code in one line, with the innermost location outside dependencies: `TypeError: x is not a function (index.ts:12:7)`. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = placeOf(error.stack ?? "");
  return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`;
}

/** Describes a thrown value without its message, which may quote an episode: `TypeError (index.ts:12:7)`. */
export function locateThrown(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { name, message, stack = "" } = error;
  const place = placeOf(stack.slice(stack.indexOf(message) + message.length));
  return place === undefined ? name : `${name} (${place})`;
}

/** Returns the file's name without its folders, which clients of a server must not see. */
function placeOf(stack: string): string | undefined {
  for (const line of stack.split("\n")) {
    const [, file, row, column] = FRAME.exec(line) ?? [];
    if (file !== undefined && !/[\\/]node_modules[\\/]/.test(file))
      return `${basename(file.replaceAll("\\", "/"))}:${row}:${column}`;
  }
  return undefined;
}

import { shownPath } from "./shown-path.ts";

/** Returns the command that continues a run, ready to be copied. */
export function resumeLine(directory: string, command: "eval" | "train" = "train"): string {
  return `Continue with:\n  npx mrlm ${command} --resume ${shownPath(directory)}`;
}

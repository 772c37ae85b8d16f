// Process that ends the processes of a launcher after the process that has the launcher, however that ended: its pipe is then closed.
// Arguments: id of the launcher. Lines on stdin: `+PID` a group has started, `-PID` it has ended, `done` nothing is left to end.
import { createInterface } from "node:readline";
import { endMarked } from "./marked-processes.ts";

const GRACE_MS = 5_000;

const groups = new Set<number>();
let isDone = false;
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (line === "done") isDone = true;
  else if (line.startsWith("+")) groups.add(Number(line.slice(1)));
  else groups.delete(Number(line.slice(1)));
});
lines.on("close", () => {
  if (!isDone) void endMarked(process.argv[2] as string, () => [...groups], GRACE_MS);
});

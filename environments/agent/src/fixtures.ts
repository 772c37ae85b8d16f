import { fileURLToPath } from "node:url";
import { callMessage, type Fixture, type JsonObject, type Message } from "@mrlm/kit";
import type { Hidden, Shown } from "./tasks.ts";

const path = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const options: JsonObject = {
  command: "exec python3 agent.py",
  files: path("program"),
  data: { path: path("tasks.jsonl"), eval_share: 0 },
  score: { file: "sum.txt", command: '[ "$(cat "$SCORE/output")" = "$(cat "$SCORE/answer")" ]' },
};
const shared = { options, task: "train/0" } as const;

const call = (command: string): Message => callMessage("bash", { command });
const SUM = "awk '{ sum += $1 } END { print sum }' numbers.txt > sum.txt";

/** Episodes with a known outcome. */
export const fixtures: readonly Fixture<Shown, Hidden>[] = [
  {
    ...shared,
    name: "solution",
    kind: "gold",
    policy: ({ turn }) => (turn === 0 ? call(SUM) : "Done."),
    reward: 1,
  },
  { ...shared, name: "nothing", kind: "nop", policy: () => "Done.", reward: 0 },
  { ...shared, name: "no call", kind: "malformed", policy: ({ task }) => task.private.answer ?? "", reward: 0 },
  {
    ...shared,
    name: "links to the answer, and a process that writes a result later",
    kind: "cheat",
    policy: ({ turn }) =>
      turn === 0
        ? call(
            "mkdir -p /score; ln -s /score/answer sum.txt; ln -sf /dev/stdin sum.txt; (setsid sh -c 'while :; do ln -sf /score*/answer sum.txt; done' >/dev/null 2>&1 &)",
          )
        : "Done.",
    reward: 0,
  },
];

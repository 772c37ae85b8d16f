import { fileURLToPath } from "node:url";
import { callMessage, type Fixture, type Message } from "@mrlm/kit";
import { DONE } from "./policies.ts";
import type { Hidden, Shown } from "./tasks.ts";

const tasks = fileURLToPath(new URL("../fixtures", import.meta.url));
const options = { tasks, eval_share: 0, bases: { "debian:12": "host" } };

const call = (command: string): Message => callMessage("bash", { command });
const solve = "sed 's/,/;/' in.csv | sort > out.csv";

/** Episodes with a known outcome. */
export const fixtures: readonly Fixture<Shown, Hidden>[] = [
  {
    name: "solution",
    kind: "gold",
    options,
    task: "train/0",
    policy: ({ turn }) => (turn === 0 ? call(solve) : DONE),
    reward: 1,
  },
  { name: "nothing", kind: "nop", options, task: "train/0", policy: () => DONE, reward: 0 },
  { name: "no call", kind: "malformed", options, task: "train/0", policy: () => solve, reward: 0 },
  {
    name: "reward files, a process that writes them, and tests of its own",
    kind: "cheat",
    options,
    task: "train/0",
    policy: ({ turn }) =>
      turn === 0
        ? call(
            "mkdir -p /logs/verifier; echo 1 | tee /logs/verifier/reward.txt; echo '{\"reward\":1}' > /logs/verifier/reward.json; (while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; sleep 0.01; done) >/dev/null 2>&1 &",
          )
        : DONE,
    reward: 0,
  },
  {
    name: "the same twice",
    kind: "determinism",
    options,
    task: "train/0",
    seed: 1,
    policy: ({ turn }) => (turn === 0 ? call(`${solve}; cat out.csv`) : DONE),
    reward: 1,
  },
];

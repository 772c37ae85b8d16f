import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import type { Fixture } from "@mrlm/spec";
import { definePlugin } from "@mrlm/kit";
import { environmentContract } from "@mrlm/testing";
import plugin from "../reverse.ts";

const [reverse] = plugin.environments ?? [];
const fixtures: readonly Fixture[] = [
  { name: "the answer", kind: "gold", task: "eval/0", policy: ({ task }) => String(task.private["answer"]), reward: 1 },
  { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
  {
    name: "the place where the answer is",
    kind: "cheat",
    task: "train/2",
    policy: () => "task.private.answer",
    reward: 0,
  },
  { name: "no number", kind: "malformed", task: "train/3", policy: () => "?", reward: 0 },
  { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => String(turn) },
];

// The contract runs in process and over gRPC.
environmentContract({
  plugins: [definePlugin({ ...plugin, environments: [{ ...(reverse as NonNullable<typeof reverse>), fixtures }] })],
  environment: "reverse",
});

test("README.md shows this environment as it stands", () => {
  const source = readFileSync(new URL("../reverse.ts", import.meta.url), "utf8");
  expect(readFileSync(new URL("../../../README.md", import.meta.url), "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { type JsonObject, messageText, type Observation } from "@mrlm/kit";
import { missingJail } from "../../plugins/workspace-local/test/support/missing-jail.ts";
import { interpreterOf } from "../interop/support/peer-python.ts";
import { assistant } from "./support/play-program.ts";
import { playAgent, type PlayedAgent } from "./support/play-agent.ts";
import { pythonProgram } from "./support/python-program.ts";

const environment = "examples/interop/verifiers";
const found = missingJail === undefined ? await interpreterOf({ folder: environment }) : { reason: missingJail };

if ("reason" in found) test.skip(`a rollout of verifiers (${found.reason})`, () => undefined);
else {
  const { folders, command } = pythonProgram(found.python, "examples/interop/verifiers-program", "program.py");

  const play = async (task: string, policy: (observation: Observation) => string): Promise<PlayedAgent> => {
    const folder = mkdtempSync(join(tmpdir(), "verifiers-"));
    const path = join(folder, "rows.jsonl");
    writeFileSync(path, JSON.stringify({ instruction: task }));
    const options: JsonObject = {
      command,
      data: { path, eval_share: 0 },
      score: { command: 'tail -n 1 "$SCORE/output"', reads: "number" },
    };
    try {
      return await playAgent(options, folders, (observation) => assistant(policy(observation)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test("a rollout of verifiers has the reward of its own rubric, and its turns are one conversation", async () => {
    let [low, high] = [1, 100];
    let guess = 0;
    const { rewards, observations, counts } = await play("3", ({ messages }) => {
      const last = messages.map(messageText).at(-1);
      if (last === "Higher.") low = guess + 1;
      if (last === "Lower.") high = guess - 1;
      guess = Math.floor((low + high) / 2);
      return `${guess}`;
    });
    expect(rewards).toEqual([1]);
    expect(observations.length).toBeGreaterThan(1);
    expect(counts).toMatchObject({ calls: observations.length, segments: 1, refused: 0 });
  });

  test("a policy that never guesses the number earns nothing", async () => {
    const { rewards, observations } = await play("3", () => "I do not know.");
    expect([rewards, observations.length]).toEqual([[0], 7]);
  });
}

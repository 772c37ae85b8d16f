import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import agent from "@mrlm/environment-agent";
import harbor from "@mrlm/environment-harbor";
import type { JsonObject, Message, Observation } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import workspaces from "@mrlm/workspace-local";
import type { StepResult } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";

/** Repository with a failing test, which the policy is to repair. The test of the score is another file. */
const TEST = `import unittest
from median import median
class Median(unittest.TestCase):
    def test_odd(self): self.assertEqual(median([3, 1, 2]), 2)
    def test_even(self): self.assertEqual(median([4, 1, 3, 2]), 2.5)
unittest.main()
`;
export const WRONG = "def median(numbers):\n    return numbers[len(numbers) // 2]\n";
export const RIGHT =
  "def median(numbers):\n    ordered = sorted(numbers)\n    half = len(ordered) // 2\n    return (ordered[half] + ordered[~half]) / 2\n";
/** Command that repairs it. */
export const REPAIR = `cat > median.py <<'X'\n${RIGHT}X\npython3 test_median.py 2>/dev/null && echo passed`;
const ROW = {
  instruction: "python3 test_median.py fails. Repair median.py.",
  files: { "median.py": WRONG, "test_median.py": TEST },
};

/** Episode of `agent@1`. */
export interface PlayedAgent {
  readonly observations: readonly Observation[];
  readonly last: StepResult;
  /** Rewards, or the reasons of agents without a score. */
  readonly rewards: readonly (number | string)[];
  readonly counts: JsonObject;
}

type Folders = Readonly<Record<string, string>>;
type ScriptedPolicy = (observation: Observation, turn: number) => Message;

/**
 * Plays the repair of a repository by a program, in a host.
 * @param options of `agent@1`
 * @param folders of this machine that the workspace shows
 */
export async function playAgent(options: JsonObject, folders: Folders, policy: ScriptedPolicy): Promise<PlayedAgent> {
  const folder = mkdtempSync(join(tmpdir(), "agents-"));
  writeFileSync(join(folder, "rows.jsonl"), JSON.stringify(ROW));
  writeFileSync(join(folder, "check.py"), TEST);
  const own = {
    data: { path: join(folder, "rows.jsonl"), eval_share: 0 },
    score: { files: folder, command: 'PYTHONPATH=. python3 "$SCORE/check.py"' },
  };
  try {
    return await playEpisode({ id: "agent", options: { ...own, ...options } }, folders, policy);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Plays the first task of `agent@1` or `harbor@1` in a host. */
export async function playEpisode(
  environment: EnvironmentRef,
  folders: Folders,
  policy: ScriptedPolicy,
): Promise<PlayedAgent> {
  const host = new LocalHost({
    source: await PluginHost.of([agent, harbor, workspaces], { plugins: { [workspaces.name]: { folders } } }),
  });
  const { signal } = new AbortController();
  try {
    const session = await host.open(environment);
    const observations: Observation[] = [];
    let observation = await session.reset({ task: "train/0", signal });
    for (;;) {
      const message = policy(observation, observations.push(observation) - 1);
      const last = await session.step({ agent: observation.agent, message, finishReason: "stop" }, { signal });
      observation = last.observation;
      if (observation.agent !== "") continue;
      await session.close();
      const rewards = Object.values(last.rewards).map((each) => (each.scored ? each.value : each.message));
      return { observations, last, rewards, counts: last.info?.["agent"] as JsonObject };
    }
  } finally {
    await host.close();
  }
}

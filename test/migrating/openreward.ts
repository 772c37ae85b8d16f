import assert from "node:assert/strict";
import { never, withSession } from "./guessing.ts";
import { commands } from "./commands.ts";
import { gymnasium } from "./gymnasium.ts";
import { openenv } from "./openenv.ts";
import type { Rows } from "./row.ts";
import { verifiers } from "./verifiers.ts";

export const openReward: Rows = {
  "`Environment` with `setup`, `teardown`": gymnasium["`gymnasium.Env`"] as Rows[string],
  "`list_splits`, `list_tasks`, `num_tasks`, `get_task`": verifiers[
    "a `datasets.Dataset` with `prompt`, `answer`, `info`"
  ] as Rows[string],
  "`task_spec`": openenv["`Action`, `Observation`, `State` dataclasses"] as Rows[string],
  "`get_prompt`": () =>
    withSession(async (session) => {
      const { messages } = await session.reset({ seed: 1, signal: never });
      assert.deepEqual(messages[0]?.parts, [{ type: "text", text: "A number from 0 to 9?" }]);
    }),
  "methods with `@tool`": verifiers["`ToolEnv(tools=[...])`"] as Rows[string],
  "`toolsets`": verifiers["`StatefulToolEnv`"] as Rows[string],
  "`ToolOutput(blocks, reward, finished)`": gymnasium[
    "`step` returns `(obs, reward, terminated, truncated, info)`"
  ] as Rows[string],
  "`reward=None`": verifiers["`JudgeRubric`"] as Rows[string],
  "`Server([Env]).run()`": commands.serveOrs,
  "`OpenReward().environments.get(NAME)`": openenv["`EnvClient`, `GenericEnvClient`"] as Rows[string],
};

import { afterAll, beforeAll, expect } from "@jest/globals";
import { testPeer } from "./support/peer-python.ts";
import { type ServedEnvironments, servedEnvironments } from "./support/served-environments.ts";

let server: ServedEnvironments;
beforeAll(async () => {
  server = await servedEnvironments();
}, 60_000);
afterAll(() => server.close());

const OPENREWARD = { folder: "test/interop/openreward", program: "check.py" };
const TOOLS = [
  ...["calculator", "read_file", "write_file", "list_files", "search_files", "edit_file", "move_file", "delete_file"],
  ...["search", "fetch", "submit"],
];

await testPeer("the openreward SDK plays a task, on a port of its own and on one for all", OPENREWARD, async (play) => {
  for (const url of [server.byEnvironment["tools@2"] ?? "", server.url])
    expect(await play(url, "tools")).toEqual({
      splits: ["train", "eval"],
      num_tasks: 100_000,
      task: { id: "train/1", split: "train", index: 1 },
      range: [2, 3, 4],
      tools: TOOLS,
      prompt: expect.stringContaining("<answer>"),
      roles: ["user"],
      task_tools: TOOLS,
      supports_score_group: false,
      bad_call: "not_found",
      first: [null, false, "42"],
      last: [0, true],
      late_call: "episode_finished",
    });
});

const TRL = { folder: "examples/interop/trl-ors", program: "run.py" };

await testPeer("TRL's GRPOTrainer takes two steps by OpenRewardSpec", TRL, async (play) => {
  const found = (await play(server.byEnvironment["math@2"] ?? "")) as Record<string, number[]>;
  expect(found).toMatchObject({ rewards: [0.5, 0.5], tool_calls: [1, 1], tool_failures: [0, 0] });
  for (const name of ["reward_stds", "losses", "grad_norms"])
    expect(found[name]?.map((value) => value > 0)).toEqual([true, true]);
});

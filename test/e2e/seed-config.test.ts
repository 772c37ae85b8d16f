import { expect, test } from "@jest/globals";
import { loadConfig } from "@mrlm/runtime";
import { fakePython } from "./support/fake-python.ts";
import { ROOT } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

test("a configuration in the legacy form loads unchanged", () => {
  const { config } = loadConfig(`${ROOT}examples/seed/math_grpo.yaml`);
  expect(config).toMatchObject({
    name: "math_grpo",
    policies: { policy: { path: `${ROOT}models/my-model`, dtype: "float32" } },
    stages: [
      {
        learners: {
          policy: {
            algorithm: "grpo",
            options: {
              steps: 50,
              prompts_per_step: 2,
              group_size: 4,
              learning_rate: 1e-5,
              clip_low: 0.2,
              clip_high: 0.2,
            },
          },
        },
      },
    ],
    environments: [{ id: "math", max_turns: 3 }],
    distributed: { enabled: false },
  });
});

const directory = temporaryDirectory();

test("the command takes it, and reports only that its model is missing", async () => {
  const { code, stderr } = await runHere(["train", "--config", "examples/seed/math_grpo.yaml"], {
    MRLM_ENGINE_PYTHON: fakePython(directory, "3.12"),
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining("MODEL_DIRECTORY_MISSING")]);
});

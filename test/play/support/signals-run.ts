import { TINY } from "../../e2e/support/tiny-run.ts";

const MODEL = {
  random: {
    config: { ...TINY.model.random.config, num_hidden_layers: 1, initializer_range: 0.1 },
    tokenizer: { characters: { alphabet: "0123456789abcdef-", tags: [] } },
  },
};
/** Configuration of two small policies that learn from one play in four steps. */
export const SIGNALS = {
  name: "signals",
  seed: 3,
  policies: { sender: MODEL, receiver: MODEL },
  environments: [{ id: "signals", options: { style: "terse" }, players: { sender: "sender", receiver: "receiver" } }],
  sampling: { max_tokens: 1 },
  stages: [
    {
      learners: Object.fromEntries(
        ["sender", "receiver"].map((name) => [
          name,
          {
            algorithm: "grpo",
            steps: 4,
            prompts_per_step: 4,
            group_size: 4,
            learning_rate: 1e-2,
            entropy_coefficient: 0.2,
          },
        ]),
      ),
    },
  ],
  eval: { tasks: 0 },
  checkpoint: { every: 2 },
  engine: { threads: 2 },
};

// npm run quickstart: installs and builds missing parts, then trains as a user would.
import { mrlm } from "./lib/engine.mjs";
import { attempt, projectNode } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

const INTRODUCTION = [
  "A language model of one million random parameters learns to sort six digits:",
  "first from demonstrations (sft), then by practice for rewards (grpo).",
  "The training takes about a minute on two processors; the first set-up downloads about 1 GB.",
  "",
].join("\n");

await script(async () => {
  console.error(INTRODUCTION);
  await setup();
  const config = "examples/quickstart/quickstart.yaml";
  const { exitCode } = await attempt(projectNode, [mrlm, "train", "--config", config, ...process.argv.slice(2)]);
  return exitCode;
});

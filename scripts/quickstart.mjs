// npm run quickstart: sets up what is missing, then trains as a user would.
import { mrlm } from "./lib/engine.mjs";
import { attempt, projectNode } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

await script(async () => {
  await setup();
  const config = "examples/quickstart/quickstart.yaml";
  const { exitCode } = await attempt(projectNode, [mrlm, "train", "--config", config, ...process.argv.slice(2)]);
  return exitCode;
});

// npm run quickstart [-- --real]: installs and builds missing parts, then trains as a user would; with --real a pretrained model, which PyPI has.
import { join } from "node:path";
import { mrlm } from "./lib/engine.mjs";
import { root } from "./lib/repository.mjs";
import { attempt, projectNode, run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

const INTRODUCTION = [
  "A language model of one million random parameters learns to sort six digits:",
  "first from demonstrations (sft), then by practice for rewards (grpo).",
  "The training takes about a minute on two processors; the first set-up downloads about 1 GB.",
  "",
].join("\n");

const REAL_INTRODUCTION = [
  "SmolLM2-135M-Instruct, a pretrained model, learns to calculate:",
  "first the form of an answer from demonstrations (sft), then by practice for rewards (grpo).",
  "The training takes about ten minutes on two processors with AVX-512, and up to three times as long on others.",
  "The model is downloaded (94 MB) and converted (540 MB) once.",
  "",
].join("\n");

const NEXT = [
  "",
  "The same with a pretrained model of 135 million parameters, in about ten minutes:",
  "  npm run quickstart -- --real",
].join("\n");

await script(async () => {
  const args = process.argv.slice(2);
  const isReal = args.includes("--real");
  const more = args.filter((arg) => arg !== "--real");
  console.error(isReal ? REAL_INTRODUCTION : INTRODUCTION);
  const { python } = await setup();
  const config = isReal
    ? ["examples/real/short.yaml", ...(await realModel(python))]
    : ["examples/quickstart/quickstart.yaml"];
  const { exitCode } = await attempt(projectNode, [mrlm, "train", "--config", ...config, ...more]);
  if (exitCode === 0 && !isReal) console.error(NEXT);
  return exitCode;
});

/** Returns the flags that name the model's file. @param {string} python of the engine @returns {Promise<string[]>} */
async function realModel(python) {
  const program = join(root, "benchmarks", "models", "packages.ts");
  const command = ["--conditions=mrlm-source", program, python, "smollm2"];
  const { stdout } = await run(projectNode, command, { stdout: "capture" });
  return ["--set", `model.gguf=${stdout.trim()}`];
}

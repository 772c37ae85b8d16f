/** Log-probabilities of a real vLLM server against those of the trainer: the measurement of `npm run test:vllm`, which installs the server. */
import { logprobDifference } from "./logprob-difference.ts";
import { installedVllmPython } from "./vllm-process.ts";

export async function vllmFigures(): Promise<Record<string, number>> {
  const python = await installedVllmPython();
  if (python === undefined) {
    console.error("vllm is left out: it is not installed; `npm run test:vllm` installs it");
    return {};
  }
  const { largest, tokens } = await logprobDifference(python);
  return { vllm_logprob_max_diff: largest, vllm_tokens: tokens };
}

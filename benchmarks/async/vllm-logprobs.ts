/** Log-probabilities of a real vLLM server against those of the trainer: the measurement of `npm run test:vllm`, which installs the server. */
import { logprobDifference } from "./logprob-difference.ts";
import { installedVllmPython } from "./vllm-process.ts";

export async function vllmFigures(): Promise<Record<string, number | string>> {
  const python = await installedVllmPython();
  if (python === undefined) {
    return { vllm_left_out: "vLLM is not installed; `npm run test:vllm` installs it" };
  }
  const { largest, tokens } = await logprobDifference(python);
  return { vllm_logprob_max_diff: largest, vllm_tokens: tokens };
}

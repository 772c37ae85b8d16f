import { expect, test } from "@jest/globals";
import { logprobDifference } from "../../benchmarks/async/logprob-difference.ts";
import { INSTALL_MS, vllmPython } from "../../benchmarks/async/vllm-process.ts";

test(
  "log-probabilities are those of the trainer to 1e-4 on 1,000 tokens over ten updates",
  async () => {
    const { largest, probed, tokens } = await logprobDifference(await vllmPython());
    console.log(JSON.stringify({ vllm_logprob_max_diff: largest, probe_max_diff: probed, tokens }));
    expect(tokens).toBe(1_000);
    expect(largest).toBeLessThan(1e-4);
  },
  INSTALL_MS,
);

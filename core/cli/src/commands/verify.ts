import { openRecords, type VerifyResult, verifyRun } from "@mrlm/runtime";
import type { CommandContext } from "../command-context.ts";
import { percent } from "../console/numbers.ts";
import type { VerifyOptions } from "../declarations/verify.ts";
import { EXIT } from "../exit-codes.ts";
import { withRecordedRun } from "../services/recorded-run.ts";

/** Compares stored log-probabilities of a run with those of its kept weights. Returns the exit code. */
export async function verify(context: CommandContext, path: string, args: VerifyOptions): Promise<number> {
  const { sample, seed, tolerance } = args;
  const records = openRecords(path);
  try {
    const result = await withRecordedRun(context, records.loaded, ({ openEngine, notice, stop }) =>
      verifyRun({
        records,
        openEngine: async () => (await openEngine()).engine,
        sample,
        seed,
        tolerance,
        onNotice: notice,
        stop,
      }),
    );
    if (result === undefined) return EXIT.interrupted;
    context.console.print(describe(result, tolerance !== undefined));
    context.console.emit({ event: "verify", ...result });
    return EXIT.ok;
  } finally {
    records.log.close();
  }
}

function describe(result: VerifyResult, isGiven: boolean): string {
  const { segments, verifiable, verified, tokens, withoutWeights, cutDistribution, largest, tolerance } = result;
  const reason = isGiven ? "--tolerance" : "float32: sampler and trainer add the same products in other orders";
  return [
    `${verified} segments verified: ${tokens} log-probabilities agree.`,
    `They were drawn from ${verifiable} of ${segments} segments with tokens (${percent(verifiable / segments)}): ${withoutWeights} have tokens of versions that no checkpoint has, ${cutDistribution} were sampled from a cut distribution.`,
    `Largest difference: ${largest.toExponential(2)} nats; tolerance: ${tolerance} (${reason}).`,
  ].join("\n");
}

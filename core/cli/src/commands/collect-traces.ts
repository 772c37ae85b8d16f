import { extname } from "node:path";
import { asWriteFailure, tracedRows, writeAtomically } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { count } from "../console/numbers.ts";
import type { CollectOptions } from "../declarations/collect.ts";
import { flagOf } from "../declarations/flag-groups.ts";
import { outputFile } from "../services/output-file.ts";

/** Flags that are for playing. */
const PLAYING = [
  "model",
  "environment",
  "config",
  "store",
  "options",
  "player",
  "policy",
  "baseUrl",
  "filterReward",
] as const;

/** Writes the calls of models in production traces to a file, as training data of SFT and DPO. */
export async function collectTraces({ console }: CommandContext, from: string, args: CollectOptions): Promise<void> {
  const other = PLAYING.find((name) => args[name] !== undefined);
  if (other !== undefined)
    throw new MrlmError("USAGE", `${flagOf(other)} is for playing, and --from reads what was played already.`);
  if (extname(args.output) !== ".jsonl")
    throw new MrlmError("USAGE", `--output ${args.output} does not end in .jsonl.`, { hint: "Traces become JSONL." });
  const output = outputFile(args.output, { overwrite: args.overwrite === true });
  const { rows, isScored, calls, conversations, unscored, leftOut } = await tracedRows(from);
  const reasons = Object.entries(leftOut).map(([reason, number]) => `${number} ${reason}`);
  const counts = [
    `${count(calls, "call")} in ${count(conversations, "conversation")}`,
    ...(reasons.length === 0 ? [] : [`left out: ${reasons.join(", ")}`]),
    ...(unscored === 0 ? [] : [`${count(unscored, "conversation")} without a score left out`]),
  ].join("; ");
  if (rows.length === 0)
    throw new MrlmError("DATA_INVALID", `${from} has nothing to learn from: ${counts}.`, {
      hint: "Record spans of the operation `chat` with gen_ai.input.messages and gen_ai.output.messages: the AI SDK does with recordInputs and recordOutputs.",
    });
  try {
    writeAtomically(output, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  } catch (error) {
    throw asWriteFailure(error, `The rows could not be written to ${args.output}`);
  }
  const kind = isScored ? "scored episodes, for sft and dpo" : "conversations, for sft";
  console.print(`${counts}\n\n${rows.length} rows written to ${args.output}: ${kind}`);
  console.emit({
    ...{ event: "collection", file: output, rows: rows.length, calls, conversations, unscored, scored: isScored },
    left_out: leftOut,
  });
}

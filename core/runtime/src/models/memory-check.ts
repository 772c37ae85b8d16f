import { MrlmError } from "@mrlm/spec";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { capitalised } from "../names/capitalised.ts";
import type { RunMemory } from "./run-memory.ts";

const GIB = 2 ** 30;
const MIB = 2 ** 20;

/** Formats bytes: `3.2 GiB`, `14 MiB`. */
export function shownBytes(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)} MiB`;
}

/**
 * Returns a lower token budget, with a notice, if the run does not fit into memory with its own; else `undefined`. Throws MEMORY_INSUFFICIENT if not even one
 * sequence fits.
 */
export function checkMemory(
  memory: RunMemory,
  config: ResolvedConfig,
): { readonly microBatchTokens: number; readonly notice: string } | undefined {
  const { availableBytes, availableFrom, microBatchTokens, wantedBytes, wantedTokens, leastTokens, leastBytes } =
    memory;
  const stage = memory.engine === undefined ? memory.stage : `${memory.stage} on ${memory.engine}`;
  const free = `${shownBytes(availableBytes)} are free (${availableFrom})`;
  if (microBatchTokens === 0) {
    throw new MrlmError(
      "MEMORY_INSUFFICIENT",
      `${stage} needs about ${shownBytes(leastBytes)} with one sequence of ${leastTokens} tokens at a time, and ${free}: ${shownBytes(leastBytes - availableBytes)} too little.`,
      { hint: advice(memory, config) },
    );
  }
  if (!memory.isLowered) return undefined;
  return {
    microBatchTokens,
    notice: `model.micro_batch_tokens is lowered from ${wantedTokens} to ${microBatchTokens}: ${stage} would need about ${shownBytes(wantedBytes)}, and ${free}. It changes speed, memory and the last bits of the gradient: set model.micro_batch_tokens to ${microBatchTokens} or less to have the same bits whatever is free.`,
  };
}

/** Lists ways to use less memory, the cheapest first. */
function advice({ fittingSequenceTokens, isLengthStated, availableFrom }: RunMemory, config: ResolvedConfig): string {
  const { distributed, sampling } = config;
  const { model } = trainedPolicy(config);
  const ways: string[] = [];
  if (fittingSequenceTokens > 0)
    ways.push(
      `lower sampling.max_sequence_tokens to ${fittingSequenceTokens}${isLengthStated ? "" : " (it is not set: the length was assumed)"}`,
    );
  if (model.gradient_checkpointing !== true) ways.push("set model.gradient_checkpointing: true");
  if (model.lora === undefined) ways.push("train an adapter (model.lora)");
  // "auto" is float32 everywhere but on a GPU.
  if (model.dtype === "float32" || (model.dtype === "auto" && !availableFrom.startsWith("CUDA")))
    ways.push("use model.dtype: bfloat16");
  if (sampling.concurrency > 16) ways.push("sample fewer episodes at once (sampling.concurrency)");
  if (distributed.strategy !== "fsdp" || distributed.nproc_per_node * distributed.nnodes === 1)
    ways.push("divide the model over several devices (distributed: { strategy: fsdp, nproc_per_node: N })");
  return `${capitalised(ways.join("; "))}. To try anyway: engine.check_memory: false.`;
}

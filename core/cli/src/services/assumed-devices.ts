import { enginesOf, type ResolvedConfig } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { MemoryWorkload } from "@mrlm/spec/host";
import { distributedOptions } from "./engine.ts";

/** Devices of a dry run in place of those of this machine. */
export type AssumedDevices = NonNullable<MemoryWorkload["assumedDevices"]>;

/** Memory of GPUs with bfloat16 in GB (10^9 bytes), by the data sheets of NVIDIA. */
const GIGABYTES = {
  b200: 180,
  h200: 141,
  h100: 80,
  a100: 80,
  "a100-40gb": 40,
  l40s: 48,
  a10: 24,
  l4: 24,
  rtx4090: 24,
} as const;

/**
 * Reads the GPUs of a machine, `NAME` or `NAMExCOUNT`, for the ranks that a configuration starts on each. Throws USAGE for an unknown name, for more ranks than GPUs,
 * and for an engine that already runs on devices of its own.
 */
export function assumedDevices(text: string, config: ResolvedConfig): AssumedDevices {
  // Longer names first: an x may be part of one.
  const names = Object.keys(GIGABYTES).toSorted((a, b) => b.length - a.length);
  const [, name, count = "1"] =
    new RegExp(`^(${names.join("|")})(?:x([1-9]\\d{0,3}))?$`).exec(text.toLowerCase()) ?? [];
  if (name === undefined)
    throw new MrlmError("USAGE", `--assume-device ${text} names no known GPU.`, {
      hint: `Write NAME or NAMExCOUNT, such as h100x8. Known: ${Object.keys(GIGABYTES).join(", ")}.`,
    });
  if (enginesOf(config).some((each) => each.config.engine.address !== undefined))
    throw new MrlmError("USAGE", "--assume-device is for engines that the run starts; `engine.address` names one.", {
      hint: "Run the dry run without it: the engine at the address reports the memory of its own devices.",
    });
  const { strategy = "ddp", processesPerNode = 1, nodes = 1 } = distributedOptions(config) ?? {};
  if (processesPerNode > Number(count))
    throw new MrlmError(
      "USAGE",
      `--assume-device ${text} is a machine with ${count} GPU${count === "1" ? "" : "s"}, and distributed.nproc_per_node starts ${processesPerNode} processes on each, which need one each.`,
      { hint: `Write ${name}x${processesPerNode}, or lower distributed.nproc_per_node.` },
    );
  const ranks = processesPerNode * nodes;
  const { context = 1, tensor = 1 } = config.engine.parallel ?? {};
  return {
    name: text,
    bytes: GIGABYTES[name as keyof typeof GIGABYTES] * 1e9,
    ranks,
    shardsWeights: strategy === "fsdp",
    context,
    tensor,
  };
}

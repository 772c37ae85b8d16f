import { z } from "zod";

/** Options of the sampler `vllm@1`. */
export const vllmOptions = z.strictObject({
  /** Environment variable with the key of `--api-key`. */
  api_key_env: z.string().min(1).optional(),
  /** Whether the server releases its GPU memory while the trainer learns: for one GPU. */
  sleep: z.boolean().default(false),
  /** Longest time of one sequence in seconds, with its waits for updates. */
  sequence_seconds: z.number().positive().max(86_400).default(600),
  /** Longest time in seconds without a new token of any sequence while sequences run. */
  stall_seconds: z.number().positive().max(86_400).default(60),
  /** Longest time of one step of an update in seconds. */
  update_seconds: z.number().positive().max(86_400).default(600),
});

/** Validated options. */
export type VllmOptions = z.output<typeof vllmOptions>;

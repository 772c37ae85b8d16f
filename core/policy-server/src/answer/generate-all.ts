import type { Generated, Generation } from "../sampling/generate.ts";
import { generate } from "../sampling/generate.ts";
import type { AnswerContext } from "./answer-context.ts";

type OneGeneration = Omit<Generation, "policy" | "admission" | "signal">;

/**
 * Samples the answers of a request. Rejects with the first error, after the others have been cancelled. `onEnd` receives each answer as soon as it has ended.
 */
export async function generateAll(
  { policy, admission, signal }: AnswerContext,
  generations: readonly OneGeneration[],
  onEnd: (generated: Generated, index: number) => void,
): Promise<void> {
  admission.admit(generations.length);
  const failed = new AbortController();
  const onAbort = (): void => failed.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const work = generations.map(async (generation, i) => {
    try {
      onEnd(await generate({ ...generation, policy, admission, signal: failed.signal }), i);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  });
  const settled = await Promise.allSettled(work);
  signal.removeEventListener("abort", onAbort);
  if (settled.some(({ status }) => status === "rejected")) throw failed.signal.reason;
}

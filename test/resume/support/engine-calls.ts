/** Call of the engine's client, as `record-calls.ts` writes it, in the order in which the calls were made. */
export type EngineCall =
  /** The process has read a checkpoint. */
  | { readonly kind: "load"; readonly checkpoint: string }
  /** The engine was asked to write a checkpoint. The file of the next process states whether it was completed. */
  | { readonly kind: "save"; readonly checkpoint: string }
  /** A pass or an optimizer step, with a digest of everything that it was given. */
  | { readonly kind: "pass" | "step"; readonly model: string; readonly digest: string };

/**
 * Returns the calls that led to the result of a run: those of its last process, before them those of an earlier process up to the checkpoint
 * that the last one read, and so on. Calls after the checkpoint that the next process read have no effect on the result.
 * @param processes calls of each process of the run, in order of start
 * @throws if a process read a checkpoint that none wrote before
 */
export function survivingCalls(processes: readonly (readonly EngineCall[])[]): EngineCall[] {
  const survivors: EngineCall[] = [];
  let wanted: string | undefined;
  for (const calls of processes.toReversed()) {
    const end = wanted === undefined ? calls.length : 1 + calls.findLastIndex((call) => isSave(call, wanted as string));
    if (end === 0) continue;
    const start = 1 + calls.findLastIndex(({ kind }, i) => kind === "load" && i < end);
    survivors.unshift(...calls.slice(start, end));
    const load = calls[start - 1];
    if (load?.kind !== "load") return survivors;
    wanted = load.checkpoint;
  }
  throw new Error(`No process wrote checkpoint ${wanted}, but a later one read it.`);
}

/** Returns a sentence on the first difference between the calls of two runs; `undefined` where they are equal. */
export function differenceOf(actual: readonly EngineCall[], expected: readonly EngineCall[]): string | undefined {
  const at = Array.from({ length: Math.max(actual.length, expected.length) }, (_, i) => i).find(
    (i) => JSON.stringify(actual[i]) !== JSON.stringify(expected[i]),
  );
  if (at === undefined) return undefined;
  const saved = actual.slice(0, at).findLast(({ kind }) => kind === "save");
  const after = saved?.kind === "save" ? `checkpoint ${saved.checkpoint}` : "the start";
  return `Call ${at + 1} (after ${after}) is ${describe(actual[at])} instead of ${describe(expected[at])}.`;
}

function isSave(call: EngineCall, checkpoint: string): boolean {
  return call.kind === "save" && call.checkpoint === checkpoint;
}

function describe(call: EngineCall | undefined): string {
  return call === undefined ? "missing" : Object.values(call).join(" ");
}

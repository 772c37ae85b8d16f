import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openRun, type RunEvent, type RunSummary, trainRun } from "@mrlm/runtime";
import type { MrlmError } from "@mrlm/spec";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { z } from "zod";
import { counterEnvironment } from "./counter-environment.ts";
import { CONFIG, letters, prepare } from "./training.ts";

export const QUICK = {
  ...CONFIG,
  stages: [
    { algorithm: "imitate", steps: 2 },
    { algorithm: "reinforce", steps: 3, with_reference: true },
  ],
  eval: { tasks: 2 },
  checkpoint: { every: 1, keep: 9 },
};

/** Environment whose tasks come from the file that an option names. */
const lettersOfFile = counterEnvironment({
  ...letters,
  id: "letters-of-file@1",
  options: z.strictObject({ path: z.string() }),
  tasks: (context, { path }: { readonly path: string }) => {
    const lines = readFileSync(context.dataPath(path), "utf8").trim().split("\n");
    return {
      splits: { train: lines.length, eval: 2 },
      get: async (split, index) => ({ id: `${split}/${index}`, public: { line: lines[index] ?? "" }, private: {} }),
    };
  },
});

export interface Trained {
  readonly summary: RunSummary;
  readonly notices: readonly string[];
}

export async function train(
  config: Readonly<Record<string, unknown>>,
  extra: Partial<Parameters<typeof trainRun>[0]> = {},
): Promise<Trained> {
  const notices: string[] = [];
  const { prepared, host } = await prepare(config, lettersOfFile);
  const onEvent = (event: RunEvent): void => void (event.kind === "notice" && notices.push(event.text));
  return {
    summary: await trainRun({
      prepared,
      host,
      engine: new BigramEngine(),
      openStore: openLocalStore,
      onEvent,
      ...extra,
    }),
    notices,
  };
}

/** Resumes under a configuration that may have been edited. */
export async function resume(
  directory: string,
  config: Readonly<Record<string, unknown>> = QUICK,
  extra: Partial<Parameters<typeof trainRun>[0]> = {},
): Promise<Trained> {
  const { run, checkpoint } = await openRun(directory, () => undefined);
  return train(config, { run, ...(checkpoint === undefined ? {} : { checkpoint }), ...extra });
}

/** Returns a run that was asked to stop after a step. */
export async function stoppedAfter(step: number, config: Readonly<Record<string, unknown>> = QUICK): Promise<string> {
  const drain = new AbortController();
  const { summary } = await train(config, {
    drain: drain.signal,
    onEvent: (event) => event.kind === "iteration" && event.step === step && drain.abort(),
  });
  return summary.directory;
}

export const weights = ({ summary }: Trained): Buffer => readFileSync(join(summary.directory, "model", "weights.bin"));
export const failure = (work: Promise<unknown>): Promise<MrlmError> =>
  work.then(
    () => Promise.reject(new Error("It did not fail")),
    (error: MrlmError) => error,
  );

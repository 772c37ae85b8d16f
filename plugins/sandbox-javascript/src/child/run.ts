import type { Answer, ChildRequest, ChildResult } from "@mrlm/sandbox/child";
import { concluded } from "./concluded.ts";
import type { Isolates } from "./isolates.ts";
import { Lifetime } from "./lifetime.ts";
import { Runner } from "./runner.ts";
import { settle } from "./settle.ts";

/** Runs a program until it has no pending timers or promises, or a function of it until it has a result. */
export function runSubmission(
  { submission, limits }: ChildRequest & { readonly op: "run" },
  answer: Answer,
  isolates: Isolates,
): Promise<ChildResult> {
  const { call, fetchFiles } = submission;
  const turn = { lifetime: new Lifetime(limits.wallMs), answer, limits };
  let runner: Runner | undefined;
  const run = async (started: Runner): Promise<ChildResult> => {
    started.load(call === undefined ? [] : [call.name]);
    const loaded = await settle(started, turn, call === undefined ? "loaded" : "bound");
    if (call === undefined || loaded.verdict !== "ok") return loaded;
    started.call("start", call.name, JSON.stringify(call.arguments));
    return settle(started, turn, "result");
  };
  return concluded(
    async () => {
      const started = new Runner({ isolates, submission, ...(call === undefined ? {} : { showsValues: true }), turn });
      runner = started;
      if (fetchFiles === undefined) return run(started);
      // A program that threw has files too.
      const result = await concluded(
        () => run(started),
        () => {},
      );
      return started.isGone ? result : { ...result, files: started.fetch(fetchFiles) };
    },
    () => runner?.release(),
  );
}

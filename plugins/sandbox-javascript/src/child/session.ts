import type { Answer, ChildRequest, ChildResult } from "@mrlm/sandbox/child";
import { concluded } from "./concluded.ts";
import type { Isolates } from "./isolates.ts";
import { Lifetime } from "./lifetime.ts";
import { Runner } from "./runner.ts";
import { settle } from "./settle.ts";
import type { Turn } from "./turn.ts";

/** Isolate that keeps its state between evaluations. */
export class Session {
  readonly #runner: Runner;
  readonly #turn: Turn;

  constructor({ files, limits }: ChildRequest & { readonly op: "open" }, answer: Answer, isolates: Isolates) {
    this.#turn = { lifetime: new Lifetime(limits.wallMs), answer, limits };
    this.#runner = new Runner({ isolates, showsValues: true, submission: { code: "", files }, turn: this.#turn });
  }

  evaluate({ submission, limits }: ChildRequest & { readonly op: "evaluate" }, answer: Answer): Promise<ChildResult> {
    Object.assign(this.#turn, { lifetime: new Lifetime(limits.wallMs), answer, limits });
    return concluded(
      async () => {
        this.#runner.evaluate(submission);
        const value = await settle(this.#runner, this.#turn, "result");
        const { call } = submission;
        if (call === undefined || value.verdict !== "ok") return value;
        this.#runner.call("start", call.name, JSON.stringify(call.arguments));
        return settle(this.#runner, this.#turn, "result");
      },
      () => {},
    ).then((result) => ({ ...result, spent: this.#runner.isGone }));
  }

  close(): void {
    this.#runner.release();
  }
}

import type { JsonObject, Judgement } from "@mrlm/spec";

interface Call {
  readonly judge: string;
  judgement?: Judgement;
}

/** Judgements of one session, until the step that they belong to is answered. */
export class SessionJudgements {
  #calls: Call[] = [];

  /** Records a call of a judge. The returned function adds its judgement. */
  begin(judge: string): (judgement: Judgement) => void {
    const call: Call = { judge };
    this.#calls.push(call);
    return (judgement) => void (call.judgement = judgement);
  }

  /** Removes the judgements of calls that have ended, and returns them as `JudgementRecord`s in the order of the calls; `undefined` without one. */
  take(step: number): JsonObject[] | undefined {
    const taken = this.#calls.flatMap(({ judge, judgement }) =>
      judgement === undefined ? [] : [{ judge, step, ...judgement } as unknown as JsonObject],
    );
    this.#calls = this.#calls.filter(({ judgement }) => judgement === undefined);
    return taken.length === 0 ? undefined : taken;
  }

  /** Drops the judgements of an episode that is over. */
  clear(): void {
    this.#calls = [];
  }
}

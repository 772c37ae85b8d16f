import type { AgentId, Grade, JsonObject, Judgement } from "@mrlm/spec";

/** Caller of a judge or a scorer. */
type Asked = { readonly judge: string } | { readonly scorer: string };

interface Call {
  readonly asked: Asked;
  graded?: Judgement | Grade;
}

/** Most calls of judges, and of scorers, of one step that are recorded: an environment may grade many texts at once. */
const MAX_CALLS = 64;
/** Most characters of the texts of a record, which each step sends and each episode stores. */
const MAX_VERDICT = 100;
const MAX_REASON = 2_000;
const MAX_EXTRACTED = 500;

/** Judgements and grades of one session, until the step that they belong to is answered. */
export class SessionJudgements {
  #calls: Call[] = [];

  /** Records a call of a judge or a scorer. The returned function adds the judgement or grade. */
  begin(asked: Asked): (graded: Judgement | Grade) => void {
    const call: Call = { asked };
    const others = this.#calls.filter((each) => "judge" in each.asked === "judge" in asked);
    if (others.length < MAX_CALLS) this.#calls.push(call);
    return (graded) => void (call.graded = graded);
  }

  /**
   * Removes the calls that have ended, and returns their `JudgementRecord`s and `GradeRecord`s in the order of the calls; `undefined` without one.
   * @param agent the agent that acted in the step
   */
  take(step: number, agent: AgentId): JsonObject[] | undefined {
    const taken = this.#calls.flatMap(({ asked, graded }) =>
      graded === undefined ? [] : [recordOf(asked, graded, step, agent) as unknown as JsonObject],
    );
    this.#calls = this.#calls.filter(({ graded }) => graded === undefined);
    return taken.length === 0 ? undefined : taken;
  }

  /** Drops the judgements and grades of an episode that is over. */
  clear(): void {
    this.#calls = [];
  }
}

function recordOf(asked: Asked, graded: Judgement | Grade, step: number, agent: AgentId): object {
  const texts = { verdict: cut(graded.verdict, MAX_VERDICT), reason: cut(graded.reason, MAX_REASON) };
  if ("rewards" in graded) return { ...asked, step, ...graded, ...texts };
  const { reward, extracted } = graded;
  return {
    ...{ ...asked, step, agent, reward, ...texts },
    ...(extracted === undefined ? {} : { extracted: cut(extracted, MAX_EXTRACTED) }),
  };
}

/** Returns the beginning of a text, without half of a character: the text of a policy is cut and sent as UTF-8. */
function cut(text: string, characters: number): string {
  return text.length <= characters ? text.toWellFormed() : `${text.slice(0, characters).toWellFormed()}...`;
}

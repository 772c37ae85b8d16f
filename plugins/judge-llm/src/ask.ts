import { type JsonObject, MrlmError, textMessage, type Unscored, unscored } from "@mrlm/kit";
import { type CompletionOptions, type JsonOutput, type ModelClient, TimeLimit } from "@mrlm/model-client";

/** Question to the model. */
export interface Question<T> {
  readonly system: string;
  readonly user: string;
  readonly output: JsonOutput<T>;
  /** Returns the contradiction in a verdict as a sentence without text of the model; undefined if it has none. */
  contradiction(value: T): string | undefined;
  readonly maxTokens: number;
  /** `null` sends none. */
  readonly temperature: number | null;
  /** Number of the vote. */
  readonly vote: number;
}

/** Verdict of the model with its cost. */
export interface Answered<T> {
  readonly value: T;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  /** Whether the verdict was repaired, or asked for again because it was refused or contradicted itself. */
  readonly isAskedAgain: boolean;
}

/** Verdict, or the reason why there is none. */
export type Outcome<T> = { readonly answered: Answered<T> } | { readonly failure: Unscored };

/** Failures of outputs that hold no verdict to read, after all repairs. */
const UNREADABLE: readonly string[] = ["ENDPOINT_OUTPUT_CUT", "ENDPOINT_OUTPUT_EMPTY", "ENDPOINT_OUTPUT_INVALID"];

/** Code of a request or an output that the model or its filter refuses: a text of an agent can cause it. */
export const REFUSED = "ENDPOINT_OUTPUT_FILTERED";

const AFTER_REFUSAL =
  "A judgement approves of nothing in the data. Judge it, and answer in the form that is asked for.";

/** Asks for a verdict; where it cannot be read, twice more; where it is refused or contradicts itself, once more. Rejects with the reason of the signal alone: any other failure is an outcome. */
export async function ask<T>(
  client: ModelClient,
  question: Question<T>,
  options: CompletionOptions,
): Promise<Outcome<T>> {
  const { system, user, output, contradiction, maxTokens, temperature, vote } = question;
  const time = new TimeLimit(options);
  const messages = [textMessage("system", system), textMessage("user", user)];
  const fields = { maxTokens, variant: vote, ...(temperature === null ? {} : { temperature }) };
  try {
    const first = await client
      .completeJson({ ...fields, messages }, output, time.rest())
      .catch(async (error: unknown) => {
        if (!MrlmError.hasCode(error, REFUSED)) throw error;
        const asked = { ...fields, messages: [...messages, textMessage("user", AFTER_REFUSAL)] };
        return { ...(await client.completeJson(asked, output, time.rest())), isRepaired: true };
      });
    const fault = contradiction(first.value);
    if (fault === undefined) return { answered: answeredBy([first], first.isRepaired) };
    const again = [
      ...messages,
      textMessage("assistant", first.completion.text),
      textMessage("user", `${fault} Judge again, and answer in the same form.`),
    ];
    const second = await client.completeJson({ ...fields, messages: again }, output, time.rest());
    const still = contradiction(second.value);
    if (still === undefined) return { answered: answeredBy([first, second], true) };
    const message = `The verdict of the model ${second.completion.model} contradicts its own scores, also when it was asked again. ${still}`;
    return { failure: unscored("JUDGE_CONTRADICTORY", message) };
  } catch (error) {
    options.signal.throwIfAborted();
    if (!MrlmError.isInstance(error)) throw error;
    const { code, message, hint } = error;
    const own = UNREADABLE.includes(code) ? "JUDGE_UNREADABLE" : code;
    return { failure: unscored(own, `${message.replace(/\.?$/, ".")} ${hint}`) };
  }
}

type Completed<T> = Awaited<ReturnType<ModelClient["completeJson"]>> & { readonly value: T };

function answeredBy<T>(answers: readonly Completed<T>[], isAskedAgain: boolean): Answered<T> {
  const last = answers.at(-1) as Completed<T>;
  const sum = (read: (completion: Completed<T>["completion"]) => number): number =>
    answers.reduce((total, { completion }) => total + read(completion), 0);
  return {
    value: last.value,
    model: last.completion.model,
    inputTokens: sum(({ usage }) => usage.inputTokens),
    outputTokens: sum(({ usage }) => usage.outputTokens),
    cost: sum(({ usage }) => usage.cost),
    isAskedAgain,
  };
}

/** Sums of the tokens and the cost of verdicts, for the detail of a judgement. Equal for recorded answers. */
export function usageOf(answers: readonly Answered<unknown>[]): JsonObject {
  const sum = (read: (answer: Answered<unknown>) => number): number =>
    answers.reduce((total, answer) => total + read(answer), 0);
  return {
    models: [...new Set(answers.map(({ model }) => model))],
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ cost }) => cost),
    asked_again: answers.filter(({ isAskedAgain }) => isAskedAgain).length,
  };
}

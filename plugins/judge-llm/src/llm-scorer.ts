import { encodeData, type ModelClient, TimeLimit } from "@mrlm/model-client";
import {
  defined,
  type Determinism,
  type Grade,
  type JsonObject,
  score,
  type Scorer,
  type ScoreRequest,
} from "@mrlm/kit";
import { type Answered, ask, REFUSED, usageOf } from "./ask.ts";
import type { LlmOptions } from "./options.ts";
import { referencePrompt } from "./prompts.ts";
import { shorten } from "./shorten.ts";
import { partOfScale, referenceFault, referenceForm, type ReferenceVerdict } from "./verdict-forms.ts";
import { majorityOf, median } from "./votes.ts";

/**
 * Compares an answer with a reference by a language model. The reward is 1 for an equivalent answer, else 0, also where the model or the majority does not decide:
 * the text of a policy affects that. So is an answer that the model refuses, unless it refuses the reference too. It is unscored where the model fails.
 */
export class LlmScorer implements Scorer {
  readonly determinism: Determinism;
  readonly #client: ModelClient;
  readonly #options: LlmOptions;

  constructor(client: ModelClient, options: LlmOptions) {
    this.determinism = client.determinism;
    this.#client = client;
    this.#options = options;
  }

  async score({
    answer,
    expected,
    question,
    signal = new AbortController().signal,
    queued,
  }: ScoreRequest): Promise<Grade> {
    const { votes, max_characters, max_tokens, temperature, deadline_ms } = this.#options;
    const time = new TimeLimit({ signal, deadlineMs: deadline_ms, ...defined({ queued }) });
    const compare = async (read: string, count: number): Promise<Grade> => {
      const items: JsonObject[] = [
        ...(question === undefined ? [] : [{ question }]),
        { correct_answer: expected },
        { answer: read },
      ];
      const call = time.rest();
      const outcomes = await Promise.all(
        Array.from({ length: count }, async (_, vote) => {
          const data = encodeData(items, ["reference", vote]);
          return await ask(
            this.#client,
            {
              system: referencePrompt(data),
              user: data.text,
              output: referenceForm,
              contradiction: referenceFault,
              maxTokens: max_tokens,
              temperature,
              vote,
            },
            call,
          );
        }),
      );
      const result = majorityOf(outcomes);
      if ("failure" in result) return { reward: result.failure, verdict: "failed", reason: result.failure.message };
      return gradeOf(result.answered, answer.length - read.length);
    };
    const grade = await shorten(
      Math.min(max_characters, answer.length),
      // The end of an answer has its result.
      async (characters) => await compare(characters === 0 ? "" : answer.slice(-characters), votes),
      ({ reward }) => [reward],
    );
    if (grade.reward.scored || grade.reward.code !== REFUSED) return grade;
    // The model that compares the reference with itself refuses the answer, and not the task.
    const { reward } = await compare(expected, 1);
    return reward.scored ? { ...grade, reward: score(0), verdict: "undecided" } : grade;
  }
}

function gradeOf(answered: readonly Answered<ReferenceVerdict>[], cut: number): Grade {
  const count = (verdict: ReferenceVerdict["verdict"]): number =>
    answered.filter(({ value }) => value.verdict === verdict).length;
  const [equivalent, different] = [count("equivalent"), count("different")];
  const verdict = equivalent > different ? "equivalent" : different > equivalent ? "different" : "undecided";
  const reason = answered[0]?.value.reasons ?? "";
  const detail = {
    verdicts: answered.map(({ value }) => value.verdict),
    usage: usageOf(answered),
    ...(cut === 0 ? {} : { cut_characters: cut }),
  };
  const components = { score: partOfScale(median(answered.map(({ value }) => value.score))) };
  return { reward: score(verdict === "equivalent" ? 1 : 0, components), verdict, reason, detail };
}

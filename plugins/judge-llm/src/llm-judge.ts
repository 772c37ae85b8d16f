import {
  type AgentId,
  defined,
  type Determinism,
  type JsonObject,
  type Judge,
  type Judgement,
  type JudgeRequest,
  type Logger,
  type Reward,
  score,
  unscored,
} from "@mrlm/kit";
import type { GradingOptions } from "@mrlm/kit/service";
import { type ModelClient, TimeLimit } from "@mrlm/model-client";
import { REFUSED, usageOf } from "./ask.ts";
import { charactersOf } from "./conversation.ts";
import { judgePairwise } from "./judge-pairwise.ts";
import { judgePointwise } from "./judge-pointwise.ts";
import type { JudgedAgents, JudgedPart } from "./judging.ts";
import { type LlmOptions, requestOptions } from "./options.ts";
import { shorten } from "./shorten.ts";
import { verdictOf } from "./verdict-of.ts";

/** Characters of the reasons of a model in a judgement. */
const MAX_REASON = 4000;

/** Judges conversations by a language model: scores by a rubric, or comparisons of pairs in both orders. */
export class LlmJudge implements Judge {
  readonly determinism: Determinism;
  readonly #client: ModelClient;
  readonly #options: LlmOptions;
  readonly #logger: Logger;

  constructor(client: ModelClient, options: LlmOptions, logger: Logger) {
    this.determinism = client.determinism;
    this.#client = client;
    this.#options = options;
    this.#logger = logger;
  }

  async judge(request: JudgeRequest, { signal, queued }: GradingOptions): Promise<Judgement> {
    const given = requestOptions.safeParse(request.options ?? {});
    if (!given.success) return refused(request, given.error.issues.map(({ message }) => message).join("; "));
    const stated = Object.fromEntries(Object.entries(given.data).filter(([, value]) => value !== undefined));
    const options: LlmOptions = { ...this.#options, ...stated };
    const time = new TimeLimit({
      signal,
      deadlineMs: options.deadline_ms,
      ...defined({ queued }),
    });
    const inMode = options.mode === "pairwise" ? judgePairwise : judgePointwise;
    const judge = async (part: JudgedPart): Promise<JudgedAgents> =>
      await shorten(
        Math.min(part.options.max_conversation_characters, charactersOf(part.request)),
        async (max_conversation_characters) =>
          await inMode({
            client: this.#client,
            request: part.request,
            options: { ...part.options, max_conversation_characters },
            call: time.rest(),
          }),
        ({ rewards }) => Object.values(rewards),
      );
    const start = performance.now();
    const judged = await judgeRefused({ request, options }, judge);
    const { rewards, verdict, reasons, answers, detail, cut } = judged;
    this.#logger.debug("judged a conversation", { verdict, ms: Math.round(performance.now() - start) });
    const failed = Object.values(rewards).flatMap((reward) => (reward.scored ? [] : [reward.message]));
    const reason = [...new Set(failed), ...reasons].join("\n");
    return {
      rewards,
      verdict,
      reason: reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}...` : reason,
      detail: {
        mode: options.mode,
        ...detail,
        usage: usageOf(answers),
        ...(cut === 0 ? {} : { cut_messages: cut }),
      } as JsonObject,
    };
  }
}

function refused({ agents }: JudgeRequest, message: string): Judgement {
  const reason = `The options of the request to judge:llm@2 are wrong: ${message}.`;
  return {
    rewards: Object.fromEntries(agents.map((agent) => [agent, unscored("OPTIONS_INVALID", reason)])),
    verdict: "undecided",
    reason,
  };
}

/**
 * Judges. Where the model refuses the conversation, the agents whose turns it refuses alone get 0, and the others are judged without these turns. A
 * refusal that the task causes, or that no agent causes alone, stays unscored.
 */
async function judgeRefused(
  part: JudgedPart,
  judge: (part: JudgedPart) => Promise<JudgedAgents>,
): Promise<JudgedAgents> {
  const { request, options } = part;
  const judged = await judge(part);
  if (!isRefused(judged)) return judged;
  const speakers = [...new Set(request.turns.map(({ agent }) => agent))];
  const refuses = async (speaker?: AgentId): Promise<boolean> => {
    const turns = request.turns.filter(({ agent }) => agent === speaker);
    const agents = request.agents.slice(0, 2);
    return isRefused(await judge({ request: { ...request, turns, agents }, options: { ...options, votes: 1 } }));
  };
  const [task, ...ofSpeakers] = await Promise.all([undefined, ...speakers].map(refuses));
  const causes = speakers.filter((_, index) => ofSpeakers[index]);
  if (task === true || causes.length === 0) return judged;
  const turns = request.turns.filter(({ agent }) => !causes.includes(agent));
  const agents = request.agents.filter((agent) => !causes.includes(agent));
  const isPairwise = options.mode === "pairwise";
  // One agent alone is not compared.
  const rest =
    agents.length > (isPairwise ? 1 : 0) ? await judge({ request: { ...request, turns, agents }, options }) : undefined;
  const won = isPairwise ? request.agents.length - agents.length : 0;
  const rewards = Object.fromEntries(
    request.agents.map((agent): [AgentId, Reward] => {
      if (causes.includes(agent)) return [agent, score(0)];
      const own = rest?.rewards[agent] ?? score(1);
      if (!own.scored || rest === undefined) return [agent, own];
      const compared = isPairwise ? agents.length - 1 : 1;
      return [agent, { ...own, value: (own.value * compared + won) / (compared + won) }];
    }),
  );
  const names = causes.join(", ");
  return {
    rewards,
    verdict: isPairwise && agents.length > 0 ? verdictOf(rewards) : "undecided",
    reasons: [`The model refuses the text of ${names}, also when asked again.`, ...(rest?.reasons ?? [])],
    answers: rest?.answers ?? [],
    detail: { ...rest?.detail, refused: causes },
    cut: rest?.cut ?? 0,
  };
}

function isRefused({ rewards }: JudgedAgents): boolean {
  return Object.values(rewards).some((reward) => !reward.scored && reward.code === REFUSED);
}

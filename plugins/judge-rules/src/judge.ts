import {
  type AgentId,
  defined,
  isObject,
  type JsonValue,
  type Judge,
  type Judgement,
  type JudgeRequest,
  messageText,
  roleOf,
  score,
  type Task,
} from "@mrlm/kit";
import { type ArgumentScore, scoreArgument } from "./argument.ts";
import { Lexicon } from "./lexicon.ts";
import type { RulesOptions } from "./options.ts";
import type { Phrases } from "./phrases/phrases.ts";
import { Sources } from "./sources.ts";
import { normalise, wordsOf } from "./text.ts";

/** Score of one side of a debate. */
interface SideScore {
  readonly value: number;
  readonly components: Readonly<Record<string, number>>;
  readonly arguments: readonly ArgumentScore[];
}

/** Share of the stems of a key point that cover it. */
const COVERED = 0.5;

/**
 * Judge `rules@1`. The score of an agent is `0.6 arguments + 0.2 consistency + 0.2 coverage` over its turns, each an argument, by default weights. It is a pure function of the
 * request, in time linear in the text.
 */
export class RulesJudge implements Judge {
  readonly determinism = "full";
  readonly #options: RulesOptions;
  readonly #lexicon: Lexicon;

  constructor(options: RulesOptions, phrases: Phrases) {
    this.#options = options;
    this.#lexicon = new Lexicon(phrases);
  }

  async judge({ question, turns, agents, task }: JudgeRequest): Promise<Judgement> {
    const points = keyPointsOf(task);
    const { background } = task.public;
    const texts = [question, background, ...Object.values(points).flat()];
    const sources = new Sources(
      this.#lexicon,
      texts.filter((text) => typeof text === "string"),
    );
    const scored = new Map<AgentId, ArgumentScore[]>(agents.map((agent) => [agent, []]));
    for (const { agent, message } of turns) {
      const text = messageText(message);
      scored.get(agent)?.push(scoreArgument(text, sources, this.#lexicon, this.#options));
      sources.addMessage(text);
    }
    const sides = new Map([...scored].map(([agent, each]) => [agent, this.#side(each, pointsOf(points, agent))]));
    return {
      rewards: Object.fromEntries(
        [...sides].map(([agent, { value, components }]) => [agent, score(value, components)]),
      ),
      verdict: verdictOf(sides, this.#options.tie),
      reason: reasonOf(sides),
      detail: Object.fromEntries([...sides].map(([agent, side]) => [agent, detailOf(side)])),
    };
  }

  #side(scored: readonly ArgumentScore[], points: readonly string[]): SideScore {
    const count = Math.max(1, scored.length);
    const average = scored.reduce((sum, { value }) => sum + value, 0) / count;
    const consistency = scored.reduce((sum, { concedes, substance }) => sum + (concedes ? 0 : substance), 0) / count;
    const coverage = points.length === 0 ? undefined : this.#coverage(points, scored);
    const { weights } = this.#options;
    const parts: [number, number][] = [
      [weights.debate.arguments, average],
      [weights.debate.consistency, consistency],
      ...(coverage === undefined ? [] : ([[weights.debate.coverage, coverage]] as [number, number][])),
    ];
    const whole = parts.reduce((sum, [weight]) => sum + weight, 0);
    const value = whole === 0 ? 0 : parts.reduce((sum, [weight, part]) => sum + weight * part, 0) / whole;
    const components = { arguments: average, consistency, ...defined({ coverage }) };
    return { value, components, arguments: scored };
  }

  /** Mean over the key points of the best argument's share of their stems, doubled: half of the stems of a point cover it. A single stem does not. */
  #coverage(points: readonly string[], scored: readonly ArgumentScore[]): number {
    const found = scored.map(({ sentences, substance }) => {
      const weights = new Map<string, number>();
      for (const { content, weight } of sentences)
        for (const stem of content) weights.set(stem, Math.max(weight * substance, weights.get(stem) ?? 0));
      return weights;
    });
    const covered = points.map((point) => {
      const stems = [...new Set(this.#lexicon.contentOf(wordsOf(normalise(point))))];
      const shares = found.map((weights) => {
        const matched = stems.filter((stem) => (weights.get(stem) ?? 0) > 0);
        if (matched.length < Math.min(2, stems.length)) return 0;
        return matched.reduce((sum, stem) => sum + (weights.get(stem) as number), 0) / (COVERED * stems.length);
      });
      return stems.length === 0 ? 0 : Math.min(1, Math.max(0, ...shares));
    });
    return covered.reduce((sum, each) => sum + each, 0) / points.length;
  }
}

/** Returns the key points of a task by role: `key_points` of its private part, else of its public one. */
function keyPointsOf(task: Task): Readonly<Record<string, readonly string[]>> {
  const given = task.private["key_points"] ?? task.public["key_points"];
  if (!isObject(given)) return {};
  const texts = (value: JsonValue): string[] =>
    Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  return Object.fromEntries(Object.entries(given).map(([role, value]) => [role, texts(value)]));
}

function pointsOf(points: Readonly<Record<string, readonly string[]>>, agent: AgentId): readonly string[] {
  return points[agent] ?? points[roleOf(agent)] ?? [];
}

/** Returns the agent with the highest score, or `tie`; `scored` for one agent. */
function verdictOf(sides: ReadonlyMap<AgentId, SideScore>, tie: number): string {
  const [first, second] = [...sides].sort(([, one], [, other]) => other.value - one.value);
  if (first === undefined || second === undefined) return "scored";
  return first[1].value - second[1].value <= tie ? "tie" : first[0];
}

function reasonOf(sides: ReadonlyMap<AgentId, SideScore>): string {
  return [...sides]
    .map(([agent, { value, components, arguments: scored }]) => {
      const parts = Object.entries(components).map(([name, part]) => `${name} ${part.toFixed(2)}`);
      const damped = scored.flatMap(({ substance }, i) => (substance < 0.5 ? [i + 1] : []));
      const note =
        damped.length === 0
          ? ""
          : `; ${damped.length === 1 ? "argument" : "arguments"} ${damped.join(", ")} of little substance`;
      return `${agent} ${value.toFixed(2)} (${parts.join(", ")}${note})`;
    })
    .join("; ");
}

function detailOf({ arguments: scored }: SideScore): { [key: string]: JsonValue } {
  return {
    arguments: scored.map(({ value, components, substance, concedes }) => ({
      value,
      substance,
      ...components,
      ...(concedes ? { concedes } : {}),
    })),
  };
}

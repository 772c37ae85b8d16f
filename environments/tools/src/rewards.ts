import { type Reward, score } from "@mrlm/kit";
import { z } from "zod";

/** Terms of the reward of an episode. `required_tool` and `other_tool` are paid for calls. */
const TERMS = {
  answer: "Times the grade of the answer, 0 to 1",
  coverage: "Times the share of the required tools that were called successfully",
  efficiency: "Times 1 - turns / `turns`, for a right answer",
  required_tool: "For each required tool, at its first successful call",
  other_tool: "For each call of a tool that is not required, where a task states the required ones",
  unknown_tool: "For each call of a tool that does not exist",
  malformed: "For each malformed call",
} as const;

type Term = keyof typeof TERMS;
export type Weights = Readonly<Record<Term, number>>;

/** Weights by preset. */
const PRESETS = {
  /** Pays nothing without a right answer. */
  outcome: {
    answer: 0.7,
    coverage: 0.2,
    efficiency: 0.1,
    required_tool: 0,
    other_tool: 0,
    unknown_tool: -0.2,
    malformed: -0.1,
  },
  /** Pays for calls and for coverage in any case: calling every tool once is enough to earn them. */
  shaped: {
    answer: 0.5,
    coverage: 0.3,
    efficiency: 0.2,
    required_tool: 0.3,
    other_tool: -0.1,
    unknown_tool: -0.2,
    malformed: -0.1,
  },
} as const satisfies Record<string, Weights>;

export const PRESET_NAMES = Object.keys(PRESETS) as [keyof typeof PRESETS, ...(keyof typeof PRESETS)[]];

/** Components of a reward, before their weights. */
export const COMPONENTS: readonly Term[] = Object.keys(TERMS) as Term[];

const PENALTIES: readonly Term[] = ["other_tool", "unknown_tool", "malformed"];

/** Schemas of the weights. */
export const WEIGHTS = Object.fromEntries(
  COMPONENTS.map((term) => {
    const weight = z.number();
    return [term, (PENALTIES.includes(term) ? weight.max(0) : weight.min(0)).optional().describe(TERMS[term])];
  }),
) as Readonly<Record<Term, z.ZodOptional<z.ZodNumber>>>;

/** Preset with the weights that replace its own. */
export type RewardOptions = { readonly preset: keyof typeof PRESETS } & {
  readonly [term in Term]?: number | undefined;
};

/** Calls of one turn. */
export interface TurnCalls {
  /** Required tools that were called successfully for the first time in the episode. */
  readonly required_tool: number;
  readonly other_tool: number;
  readonly unknown_tool: number;
  readonly malformed: number;
}

export interface EpisodeEnd {
  /** Grade of the answer, 0 to 1; 0 without an answer. */
  readonly answer: number;
  /** Share of the required tools that were called successfully; `undefined` for a task that requires none. */
  readonly coverage: number | undefined;
  /** Turns of the episode, with that of the answer, divided by the greatest number of turns. */
  readonly share: number;
}

/** Returns the reward of a turn; `end` in the last one. Components are reported before their weights. */
export function rewardOf(options: RewardOptions, calls: TurnCalls, end?: EpisodeEnd): Reward {
  const weights = weightsOf(options);
  const components: Record<Term, number> = { ...calls, ...endOf(options.preset, end) };
  const value = COMPONENTS.reduce((sum, term) => sum + paid(term, components, options.preset) * weights[term], 0);
  return score(
    value,
    // Terms that are neither counted nor paid for would only fill reports.
    Object.fromEntries(
      Object.entries(components).filter(
        ([term]) => weights[term as Term] !== 0 || !["required_tool", "other_tool"].includes(term),
      ),
    ),
  );
}

/**
 * Returns the least and the largest reward of an episode. Both are infinite where each call is paid for or costs something.
 * @param share least share of the turns that a right answer takes
 */
export function rangeOf(options: RewardOptions, share: number): readonly [number, number] {
  const weights = weightsOf(options);
  const penalties = PENALTIES.some((term) => weights[term] < 0);
  const largest = weights.answer + weights.coverage + weights.efficiency * (1 - share);
  return [penalties ? Number.NEGATIVE_INFINITY : 0, weights.required_tool > 0 ? Number.POSITIVE_INFINITY : largest];
}

function weightsOf(options: RewardOptions): Weights {
  const preset = PRESETS[options.preset];
  return Object.fromEntries(COMPONENTS.map((term) => [term, options[term] ?? preset[term]])) as Weights;
}

function endOf(
  preset: RewardOptions["preset"],
  end: EpisodeEnd | undefined,
): Pick<Weights, "answer" | "coverage" | "efficiency"> {
  if (end === undefined) return { answer: 0, coverage: 0, efficiency: 0 };
  // An answer that no required tool has led to was guessed, or read where it must not be.
  const answer = preset === "outcome" && end.coverage === 0 ? 0 : end.answer;
  const isRight = answer >= 1;
  return { answer, coverage: end.coverage ?? Number(isRight), efficiency: isRight ? 1 - end.share : 0 };
}

/** Returns the amount of a term that is paid: in the preset `outcome`, coverage only with a right answer. */
function paid(term: Term, components: Readonly<Record<Term, number>>, preset: RewardOptions["preset"]): number {
  return term === "coverage" && preset === "outcome" && components.answer < 1 ? 0 : components[term];
}

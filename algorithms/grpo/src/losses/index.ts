import { cispo } from "./cispo.ts";
import { clip } from "./clip.ts";
import { gspo } from "./gspo.ts";
import { minirl } from "./minirl.ts";
import type { EpisodeTokens, PolicyLoss, SurrogateOptions, TokenLosses } from "./policy-loss.ts";

/** A surrogate, and the options that it reads. Other options are rejected. */
interface Entry {
  readonly loss: PolicyLoss;
  readonly options: readonly (keyof SurrogateOptions)[];
}

/** Surrogates by the value of the option `policy_loss`. */
const losses = {
  clip: { loss: clip, options: ["clip_low", "clip_high", "dual_clip"] },
  gspo: { loss: gspo, options: ["clip_low", "clip_high", "dual_clip"] },
  cispo: { loss: cispo, options: ["clip_high"] },
  minirl: { loss: minirl, options: ["clip_low", "minirl_epsilon_high", "minirl_cap"] },
} satisfies Record<string, Entry>;

/** A value of the option `policy_loss`. */
export type PolicyLossName = keyof typeof losses;

/** Values of the option `policy_loss`. */
export const policyLossNames = Object.keys(losses) as PolicyLossName[];

/** A surrogate and its options. */
export interface PolicyLossOptions extends SurrogateOptions {
  readonly policy_loss: PolicyLossName;
}

/** Returns the options that this surrogate reads, and options that only others read. */
export function optionsOfLoss(name: PolicyLossName): {
  readonly read: readonly (keyof SurrogateOptions)[];
  readonly unread: readonly (keyof SurrogateOptions)[];
} {
  const read: readonly (keyof SurrogateOptions)[] = losses[name].options;
  const all = Object.values<Entry>(losses).flatMap(({ options }) => options);
  return { read, unread: [...new Set(all)].filter((option) => !read.includes(option)) };
}

/** A surrogate that is none of the table. */
export interface OwnLoss {
  /** Returns the losses and gradient of one episode. */
  readonly ownLoss: (tokens: EpisodeTokens) => TokenLosses;
}

/** Returns the losses and gradient of one episode under the surrogate that the options name or have. */
export function policyLosses(tokens: EpisodeTokens, options: PolicyLossOptions | OwnLoss): TokenLosses {
  return "ownLoss" in options ? options.ownLoss(tokens) : losses[options.policy_loss].loss(tokens, options);
}

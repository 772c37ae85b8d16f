import { ends, mean, percent, recent, series, short, type StageRule } from "../finding.ts";

export const CLIP_FRACTION = 0.3;
/** Entropy, in nats a token, below this share of its first value. */
export const ENTROPY_LEFT = 0.1;
/** Limit of the KL divergence in nats: of an episode for ppo, of a token for other algorithms. */
export const KL_REFERENCE = { episode: 30, token: 0.5 } as const;
/** k3 of the sampler against the trainer, in nats a token. */
export const MISMATCH_KL = 0.01;
/** The same where episodes are played ahead of learning. */
const OFF_POLICY_KL = 0.1;
/** Effective sample size of importance weights, as a share of the tokens. */
export const EFFECTIVE_SHARE = 0.3;

export const clipFraction: StageRule = ({ iterations }) => {
  const share = mean(recent(series(iterations, "clip/fraction")));
  if (!(share > CLIP_FRACTION)) return undefined;
  return {
    rule: "clip-fraction",
    severity: "problem",
    what: `${percent(share)} of the tokens are held by the clip: the policy moves too far within one batch.`,
    advice:
      "Lower learning_rate, make fewer passes over each batch (updates_per_step, epochs, minibatches), or sample larger batches.",
  };
};

export const entropyCollapse: StageRule = ({ iterations }) => {
  const name = ["entropy", "entropy/sampled"].find((each) => series(iterations, each).length > 0);
  const parts = name === undefined ? undefined : ends(series(iterations, name));
  if (parts === undefined) return undefined;
  const [before, after] = [mean(parts.first), mean(parts.last)];
  const reward = ends(series(iterations, "reward/mean"));
  // A low entropy is correct for imitation of certain data and for a solved task.
  if (reward === undefined || mean(reward.last) >= 0.95 || !(after < ENTROPY_LEFT * before)) return undefined;
  return {
    rule: "entropy-collapse",
    severity: "problem",
    what: `Entropy fell from ${short(before)} to ${short(after)} nats a token: the policy repeats the same answers.`,
    advice: "Lower learning_rate, raise clip_high above clip_low (DAPO), or set entropy_coefficient or kl_coefficient.",
  };
};

export const klBlowUp: StageRule = ({ iterations, algorithm }) => {
  const limit = algorithm.startsWith("ppo") ? KL_REFERENCE.episode : KL_REFERENCE.token;
  const value = mean(recent(series(iterations, "kl/reference")));
  if (!(value > limit)) return undefined;
  return {
    rule: "kl-blow-up",
    severity: "problem",
    what: `The divergence from the reference is ${short(value)} nats (${algorithm.startsWith("ppo") ? "an episode" : "a token"}): the policy has left where it began.`,
    advice:
      "Raise kl_coefficient, give ppo a kl_target, or lower learning_rate. Read episodes: text may have become strange while the reward rose.",
  };
};

export const samplerMismatch: StageRule = ({ iterations }) => {
  const value = mean(recent(series(iterations, "offpolicy/kl")));
  const isAhead = series(iterations, "offpolicy/lag_max").length > 0;
  if (!(value > (isAhead ? OFF_POLICY_KL : MISMATCH_KL))) return undefined;
  if (isAhead)
    return {
      rule: "sampler-mismatch",
      severity: "problem",
      what: `The newest weights are far from those that played (k3 ${short(value)} nats a token): importance weights of most tokens are at their bounds.`,
      advice: "Lower play.lag or learning_rate, or set play.max_kl to end such a run.",
    };
  return {
    rule: "sampler-mismatch",
    severity: "problem",
    what: `Sampler and trainer give the same tokens different log-probabilities (k3 ${short(value)} nats a token).`,
    advice:
      "Set model.float32_head: true, use mismatch: truncate (or mask), or train in float32. With an old checkpoint or several weight versions in a batch, see stale episodes.",
  };
};

export const fewEffectiveTokens: StageRule = ({ iterations }) => {
  const share = mean(recent(series(iterations, "offpolicy/ess")));
  if (!(share < EFFECTIVE_SHARE)) return undefined;
  return {
    rule: "few-effective-tokens",
    severity: "problem",
    what: `Importance weights differ so much that the tokens of a batch count as ${percent(share)} of them: few tokens decide each step.`,
    advice:
      "Lower play.lag or learning_rate. With mismatch_level: sequence, set token or geometric; with token, lower mismatch_cap.",
  };
};

import { capitalised } from "../names/capitalised.ts";
import { byProblem, type Finding, type StageRule } from "./finding.ts";
import {
  cutTargets,
  failedEpisodes,
  hasOneToken,
  limitedEpisodes,
  malformedCalls,
  rewardsOutOfRange,
  truncation,
  unscoredEpisodes,
  versionLag,
} from "./rules/episodes.ts";
import { answersDrift, copiedAnswers, equalAnswers } from "./rules/answers.ts";
import { evaluatedEpisodes, evaluationDrop } from "./rules/evaluation.ts";
import { explainedVariance, gradientSpikes, learningStopped, skippedSteps } from "./rules/optimizer.ts";
import { clipFraction, entropyCollapse, fewEffectiveTokens, klBlowUp, samplerMismatch } from "./rules/policy.ts";
import { componentDivergence } from "./rules/reward-hacking.ts";
import { runFailed } from "./rules/run-failed.ts";
import { programsEnd, rewrittenHistories } from "./rules/programs.ts";
import { fallingReward, flatReward, groupsWithoutSignal } from "./rules/signal.ts";
import { likelihoodDisplacement, pairsNotLearnt, risingLoss } from "./rules/supervised.ts";
import { unscoredByPolicy, watchBound, watchGap } from "./rules/watch.ts";
import {
  environmentBound,
  groupsRefused,
  learningBound,
  playBound,
  playersBound,
  selection,
  wireBound,
} from "./rules/time.ts";
import type { RunRecord, StageRecord } from "./run-record.ts";
import { isAgainstItself, learnerViews, roleViews } from "./stage-views.ts";

/** Rules for stages, the most important findings first. */
export const STAGE_RULES: readonly StageRule[] = [
  failedEpisodes,
  unscoredEpisodes,
  rewardsOutOfRange,
  watchGap,
  copiedAnswers,
  equalAnswers,
  unscoredByPolicy,
  fallingReward,
  risingLoss,
  pairsNotLearnt,
  entropyCollapse,
  groupsWithoutSignal,
  learningStopped,
  truncation,
  limitedEpisodes,
  malformedCalls,
  programsEnd,
  rewrittenHistories,
  cutTargets,
  samplerMismatch,
  fewEffectiveTokens,
  skippedSteps,
  gradientSpikes,
  clipFraction,
  klBlowUp,
  explainedVariance,
  flatReward,
  likelihoodDisplacement,
  componentDivergence,
  answersDrift,
  versionLag,
  environmentBound,
  playersBound,
  wireBound,
  playBound,
  learningBound,
  groupsRefused,
  selection,
  watchBound,
];

/** Rules whose findings are omitted if the finding of another rule causes them, because their advice would be wrong: a collapsed policy needs no higher learning rate. */
const FOLLOWS_FROM: Readonly<Record<string, readonly string[]>> = {
  "falling-reward": ["rewards-out-of-range"],
  "gradient-spikes": ["rewards-out-of-range"],
  "skipped-steps": ["rewards-out-of-range"],
  "groups-without-signal": ["falling-reward", "entropy-collapse"],
  "no-gradient": ["rewards-out-of-range", "groups-without-signal", "falling-reward", "entropy-collapse"],
  "flat-reward": [
    "rewards-out-of-range",
    "episodes-failed",
    "episodes-unscored",
    "entropy-collapse",
    "groups-without-signal",
    "no-gradient",
    "truncation",
    "sampler-mismatch",
    "skipped-steps",
    "clip-fraction",
    "kl-blow-up",
  ],
  "likelihood-displacement": ["pairs-not-learnt"],
  "episodes-unscored": ["unscored-by-policy"],
};

/** Rules that a game against the policy itself or its past versions does not break: one role earns what the other one loses. */
const OF_REWARD = ["flat-reward", "falling-reward"];

/** Examines a stage, by learner and by role where its rewards are. A finding of some of these alone, or with other numbers, names the policy and the role. */
function stageFindings(stage: StageRecord, run: RunRecord, rules: readonly StageRule[] = STAGE_RULES): Finding[] {
  const views = learnerViews(stage).flatMap(({ policy, stage: learnt }) =>
    roleViews(learnt).map((view) => ({
      place: [policy && `policy ${policy}`, view.role && `role ${view.role}`].filter(Boolean).join(", "),
      isGame: isAgainstItself(learnt),
      stage: view.stage,
    })),
  );
  return rules.flatMap((rule) => {
    const found = views.map((view) => ({ ...view, finding: rule(view.stage, run) }));
    const findings = found.flatMap(({ place, isGame, finding }) =>
      finding === undefined || (isGame && OF_REWARD.includes(finding.rule)) ? [] : [{ place, finding }],
    );
    const isOfAll = findings.length === views.length && new Set(findings.map(({ finding }) => finding.what)).size === 1;
    return isOfAll
      ? findings.slice(0, 1).map(({ finding }) => finding)
      : findings.map(({ place, finding }) => ({ ...finding, what: `${capitalised(place)}: ${finding.what}` }));
  });
}

/** Rules for rewards that are earned by something other than the task. A run reports their findings while it trains. */
const REWARD_RULES: readonly StageRule[] = [watchGap, copiedAnswers, equalAnswers, unscoredByPolicy, watchBound];

/** Finds rewards of a stage under way that are earned by something other than the task. */
export function rewardFindings(stage: StageRecord): Finding[] {
  const run = { directory: "", status: "running", stages: [stage], evaluations: [], failures: [], unscored: [] };
  return stageFindings(stage, run, REWARD_RULES);
}

/** Finds problems and hints of a run, problems first. */
export function diagnose(run: RunRecord): Finding[] {
  const found = run.stages.flatMap((stage) => {
    const findings = stageFindings(stage, run);
    const problems = new Set(findings.filter(({ severity }) => severity === "problem").map(({ rule }) => rule));
    return findings
      .filter(({ rule }) => !FOLLOWS_FROM[rule]?.some((cause) => problems.has(cause)))
      .map((finding): Finding => ({ ...finding, stage: stage.name }));
  });
  // One finding of each rule is enough. Those of stages have more numbers.
  const stageRules = new Set(found.map(({ rule }) => rule));
  // In evaluations of a run with `max_tokens: 1` too the limit is the form of the answers.
  const isForm = run.stages.some(({ iterations }) => hasOneToken(iterations));
  const evaluated = evaluatedEpisodes(run).filter(
    ({ rule }, i, all) =>
      !stageRules.has(rule) &&
      !(isForm && rule === "truncation") &&
      all.findIndex((other) => other.rule === rule) === i,
  );
  const all = [...runFailed(run), ...found, ...evaluated, ...evaluationDrop(run)];
  return byProblem(all);
}

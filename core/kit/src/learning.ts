/** Entry for authors of algorithms: episodes, order of rows, losses, options, metrics, and rows of recorded files. */

export { chatMessage, type ChatMessage, fromChatMessage, toChatMessages } from "./recorded/chat-message.ts";
export { chatTools, fromChatTools } from "./recorded/chat-tools.ts";
export {
  recordedRow,
  type RecordedRow,
  isRecordedRow,
  parseRecordedRow,
  toRecordedRows,
} from "./recorded/recorded-row.ts";
export { isOfOtherPlayer, learntRowReward, recordedSequences, isLearnable } from "./recorded/recorded-sequences.ts";
export { episodeMetrics } from "./learning/episode-metrics.ts";
export { epochOrder, type EpochOrder, indexOrder } from "./learning/epoch-order.ts";
export { mismatchWeight, mismatchWeights } from "./learning/importance.ts";
export { gradesOf, judgementsOf, withoutGrades } from "./learning/judgements.ts";
export { klEstimate, type KlEstimator, weightedKl } from "./learning/kl.ts";
export {
  type EpisodeCounts,
  type EpisodeRules,
  isCut,
  isLearnt,
  isPlayedBy,
  type LearnableEpisode,
  learnableEpisodes,
  learntReward,
  noEpisodeCounts,
} from "./learning/learnable-episodes.ts";
export { type Match, matchesOf, type MatchPart, matchParts, ZeroSum } from "./learning/matches.ts";
export { meanOf, meanValue, mergeMeans } from "./learning/mean.ts";
export { MismatchMetrics } from "./learning/mismatch-metrics.ts";
export {
  type MismatchCorrection,
  type MismatchOptions,
  mismatchOptions,
  mismatchRules,
  uncorrected,
} from "./learning/mismatch-options.ts";
export { minibatches } from "./learning/minibatches.ts";
export { optimizerOptions, type OptimizerOptions, optimStepOptions } from "./learning/optimizer-options.ts";
export { optimizerRules, type OptionRule, withOptionRules } from "./learning/option-rules.ts";
export { policyRoles } from "./learning/policy-roles.ts";
export { learningRateAt, type Schedule, type ScheduleKind } from "./learning/schedule.ts";
export { weightedRoundRobin, type WeightedRoundRobin } from "./learning/weighted-round-robin.ts";
export { standardDeviation } from "./learning/standard-deviation.ts";
export { type ClipOptions, clippedSurrogate, LOG_RATIO_LIMIT, ratioOf, ratioSlope } from "./learning/surrogate.ts";
export {
  type StepReport,
  stepMetrics,
  trainStep,
  type TrainStepOptions,
  type TrainStepResult,
} from "./learning/train-step.ts";
export { type ToolUsage, toolUsageOf, ToolUsageTally } from "./learning/tool-usage.ts";
export { assertWholeDistribution } from "./learning/whole-distribution.ts";

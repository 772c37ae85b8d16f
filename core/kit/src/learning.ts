/** Entry for authors of algorithms: contracts, episodes, order of rows, losses, options, metrics, and rows of recorded files. */

export {
  type AgentId,
  type AlgorithmContext,
  type AlgorithmDefinition,
  type AlgorithmRun,
  type Credit,
  type EngineSequence,
  type EngineUnit,
  type IterationReport,
  type JsonObject,
  type JsonValue,
  type Mean,
  type Message,
  type Metrics,
  type ModelId,
  MrlmError,
  type OutputSelection,
  type PolicyId,
  type Renderer,
  type RolloutSampling,
  type SupervisedSequence,
  type TaskId,
  type TokenSpan,
  type ToolDefinition,
  type TrainingEnvironment,
  type TrajectoryGroup,
  type UnitGradients,
  type UnitOutputs,
  type WeightVersion,
} from "@mrlm/spec";
export { definePlugin } from "./define-plugin.ts";
export { textMessage } from "./messages.ts";
export { chatMessage, fromChatMessage, toChatMessages } from "./recorded/chat-message.ts";
export { chatTools, fromChatTools } from "./recorded/chat-tools.ts";
export { type AnswerPair, isSingleRow, parsePreferenceRow, singleOf, toPair } from "./recorded/preference-row.ts";
export { type RecordedRow, isRecordedRow, parseRecordedRow, toRecordedRows } from "./recorded/recorded-row.ts";
export { isOfOtherPlayer, learntRowReward, recordedSequences, isLearnable } from "./recorded/recorded-sequences.ts";
export { episodeMetrics } from "./learning/episode-metrics.ts";
export { epochOrder, type EpochOrder, indexOrder } from "./learning/epoch-order.ts";
export { gradesOf, judgementsOf, withoutGrades } from "./learning/judgements.ts";
export { klEstimate, weightedKl } from "./learning/kl.ts";
export {
  type EpisodeCounts,
  isCut,
  isLearnt,
  isPlayedBy,
  type LearnableEpisode,
  learnableEpisodes,
  learntReward,
  noEpisodeCounts,
} from "./learning/learnable-episodes.ts";
export { type Match, matchesOf, type MatchPart, matchParts, ZeroSum } from "./learning/matches.ts";
export { meanOf, meanValue } from "./learning/mean.ts";
export { MismatchMetrics } from "./learning/mismatch-metrics.ts";
export { type MismatchOptions, mismatchOptions, mismatchRules, uncorrected } from "./learning/mismatch-options.ts";
export { optimizerOptions } from "./learning/optimizer-options.ts";
export { type OptionRule, optimizerRules, withOptionRules } from "./learning/option-rules.ts";
export { programOf, wastedSpans } from "./learning/program-calls.ts";
export { policyRoles } from "./learning/policy-roles.ts";
export { weightedRoundRobin } from "./learning/weighted-round-robin.ts";
export { standardDeviation } from "./learning/standard-deviation.ts";
export {
  type ClipOptions,
  clippedSurrogate,
  LOG_RATIO_LIMIT,
  mismatchWeight,
  mismatchWeights,
  ratioOf,
  ratioSlope,
} from "./learning/ratios.ts";
export { scoredAnswer, scoredTurns } from "./learning/scored-sequence.ts";
export { minibatches, type StepReport, stepMetrics, trainStep, type TrainStepResult } from "./learning/train-step.ts";
export { type ToolUsage, ToolUsageTally } from "./learning/tool-usage.ts";
export { assertWholeDistribution } from "./learning/whole-distribution.ts";

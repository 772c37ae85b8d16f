export { LocalHost } from "./host/local-host.ts";
export { watchEventLoop } from "./host/event-loop-watchdog.ts";
export { type SessionAtWork, sessionTracking } from "./host/phase-beacon.ts";
export { checkGrade, checkJudgement } from "./host/guarded-graders.ts";
export { type Agreement, agreementOf } from "./judging/agreement.ts";
export { type JudgedOutcome, judgeRun, scoreRun } from "./judging/judge-run.ts";
export { ReplacedGraders } from "./judging/replaced-graders.ts";
export { openWatch } from "./judging/episode-watch.ts";
export { openEpisodeTools } from "./host/session-tools.ts";
export { type Behaviour, behaviourFile, behaviourOf, compareBehaviour } from "./plugins/behaviour.ts";
export { PluginHost } from "./plugins/plugin-host.ts";
export { requiredSandboxes } from "./plugins/required-sandboxes.ts";
export { PluginRegistry } from "./plugins/plugin-registry.ts";
export { discoverPlugins } from "./plugins/discover-plugins.ts";
export { importPlugin } from "./plugins/load-plugin.ts";
export {
  directDependencies,
  packageDirectory,
  type PluginPackage,
  projectDirectory,
  readPluginPackage,
} from "./plugins/plugin-package.ts";
export { storePlaceOf } from "./plugins/store-plugin.ts";
export { installHint } from "./plugins/install-hint.ts";
export { parseManifest } from "./plugins/manifest.ts";
export { PROVIDERS } from "./plugins/provider-table.ts";
export type { EnvironmentSource } from "./plugins/plugin-kinds.ts";
export { remoteServices } from "./services/remote-services.ts";
export { serveServices } from "./services/serve-services.ts";
export { didYouMean } from "./names/nearest.ts";
export { resolveVersioned, withBareNames } from "./names/versioned.ts";
export { canonicalJson } from "./names/canonical-json.ts";
export { loadConfig, type LoadedConfig, parseConfig } from "./config/load-config.ts";
export { collectEpisodes } from "./collection/collect-episodes.ts";
export { writeCollection } from "./collection/collection-file.ts";
export { type ColumnShape, ParquetFile, readParquet } from "./collection/parquet.ts";
export { Journal } from "./collection/journal.ts";
export { configuredPlugins } from "./config/configured-plugins.ts";
export { samplingOf, trainedPolicies, trainedPolicy } from "./config/policies.ts";
export type { ResolvedConfig, ResolvedEnvironment, ResolvedModel, ResolvedPart } from "./config/resolve-config.ts";
export { type OpenedSession, openSession, type SessionRequest } from "./session/open-session.ts";
export { RolloutRunner } from "./rollouts/rollout-runner.ts";
export { tracedRows } from "./collection/traced-rows.ts";
export { environmentLabel } from "./play/labels.ts";
export { evaluate, type EvaluationResult } from "./evaluation/evaluate.ts";
export { type Comparison, compareTasks } from "./evaluation/comparison.ts";
export { hashOfFiles } from "./evaluation/episode-keys.ts";
export { differenceToShow } from "./evaluation/power.ts";
export { parseRequirement } from "./evaluation/requirement.ts";
export {
  EvaluationPlan,
  playMissing,
  type StoredCell,
  storedGroups,
  type StoredKind,
  storedResults,
  storedScores,
} from "./evaluation/stored-evaluation.ts";
export type { Interval } from "./evaluation/intervals.ts";
export type { MatchSummary } from "./evaluation/match-tally.ts";
export { type EpisodeSummary, EpisodeTally, summariseEpisodes } from "./evaluation/summarise.ts";
export { StagePlay } from "./play/stage-play.ts";
export { processName, thisProcess } from "./workers/member-sources.ts";
export { joinRun, type Membership } from "./workers/membership.ts";
export { playRun } from "./workers/rollout-worker.ts";
export { learningEngine } from "./models/engine-views.ts";
export { createLauncher } from "./prepare/create-launcher.ts";
export { type PreparedRun, prepareRun } from "./prepare/prepare-run.ts";
export { checkStore } from "./prepare/check-store.ts";
export { checkLearners } from "./prepare/prepare-stage.ts";
export { PlayTally } from "./rollouts/play-tally.ts";
export type { RunEvent, RunSummary } from "./train/run-events.ts";
export { openRecords, openReplay } from "./replay/open-replay.ts";
export { type ReplayResult, replayRun } from "./replay/replay-run.ts";
export { type VerifyResult, verifyRun } from "./replay/verify-run.ts";
export { openRun, type TrainOptions, trainRun } from "./train/train-run.ts";
export { checkMemory, shownBytes } from "./models/memory-check.ts";
export { estimateRun, type RunMemory } from "./models/run-memory.ts";
export { checkPlayers } from "./players/check-players.ts";
export { type MeasuredEndpoint, measuredEndpoint, measuredName } from "./players/measured-endpoint.ts";
export { ENDPOINT_URL, isEndpointUrl } from "./config/endpoint-url.ts";
export { outsidePlayer } from "./players/outside-policies.ts";
export { type ConfiguredEngine, enginesOf, MAIN_ENGINE } from "./config/engines.ts";
export { checkRoutes } from "./models/check-routes.ts";
export { RewardModels } from "./models/reward-models.ts";
export { playerOverrides } from "./config/player-overrides.ts";
export { withStoredModels } from "./prepare/model-directories.ts";
export { policyOptions } from "./prepare/model-source.ts";
export type { Checkpoint } from "./run/checkpoints.ts";
export { idOfRun, recordFailure } from "./train/run-recorder.ts";
export { adapterDirectory, modelDirectory, policiesOf } from "./run/model-directory.ts";
export { episodesNotLearnt, type LearningCurve, learningCurve } from "./run/learning-curve.ts";
export { encodeBytes } from "./run/message-json.ts";
export { MetricsFile, type MetricsRow } from "./run/metrics-file.ts";
export { diagnose } from "./diagnosis/diagnose.ts";
export { examineFile } from "./diagnosis/examine-file.ts";
export type { Finding } from "./diagnosis/finding.ts";
export { readRun } from "./diagnosis/run-record.ts";
export { writeAtomically } from "./run/atomic-write.ts";
export { asOutputFault, asWriteFailure } from "./run/write-failure.ts";
export { type BeforeAndAfter, beforeAndAfter } from "./episodes/before-and-after.ts";
export { checkPrompts, checkTemplates } from "./prepare/check-prompts.ts";
export { type KeptEpisode, keptEpisodes } from "./episodes/kept-episodes.ts";
export { directoryRenderer } from "./run/directory-renderer.ts";
export { type EnginePlace, type EnginePlaces, RunDirectory, type SamplerFile } from "./run/run-directory.ts";
export { engineThreads } from "./prepare/engine-threads.ts";
export { ProvedSampler } from "./samplers/proved-sampler.ts";
export { openSamplerSource } from "./samplers/open-source.ts";

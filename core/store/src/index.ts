export {
  type EpisodeFilter,
  type EpisodeList,
  type EpisodePage,
  LIST_COLUMNS,
  type ListedValue,
  type Range,
} from "./episode-list.ts";
export {
  type CauseCount,
  type EpisodeQuery,
  EpisodeReader,
  type NumberedEpisode,
  type StoredCredit,
  type TaskRewards,
} from "./episode-reader.ts";
export type { RunWorkers, StoredLease, StoredMember } from "./run-workers.ts";
export { isStore, runOfStore } from "./open-to-read.ts";
export { hasPassword, isDatabase, isPostgres, placeOfRun, type StorePlace, withoutPassword } from "./store-place.ts";
export { storeProviderOf, type RunAnnouncement, type StoreProvider } from "./store-provider.ts";
export { checkEpisodeStore } from "./check-store.ts";
export { LoggedBatches, type RecordedWeights } from "./logged-batches.ts";
export { type QueryResult, queryStore } from "./query.ts";
export type { QueryLimits, QueryValue } from "./query-messages.ts";
export { STORE_FILE } from "./store-database.ts";
export type { StoreSettings } from "./store-settings.ts";
export { VIEWS } from "./views.ts";
export { type SegmentPlace, StoredSegments, type StoredTokens } from "./stored-segments.ts";
export { openEpisodeStore, openLocalStore } from "./worker-store.ts";

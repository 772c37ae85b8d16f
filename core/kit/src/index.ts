/** Entry for authors of environments and other plugins. Imports no tokenizer. */

export { removedKeys } from "./removed-keys.ts";
export { answerPlace, placeAnswer, requestAnswer } from "./answer-place.ts";
export { cacheDirectory } from "./cache-directory.ts";
export { callTools } from "./call-tools.ts";
export { dataFile, refuseBesideData } from "./data/data-file.ts";
export { divide, type Division } from "./data/divide.ts";
export { invalidRow, type Place } from "./data/invalid-row.ts";
export { listedTasks } from "./data/listed-tasks.ts";
export { type JsonlRow, jsonlRows, readJsonl } from "./data/read-jsonl.ts";
export { decodeUtf8 } from "./data/decode-utf8.ts";
export { readLines } from "./data/read-lines.ts";
export { defineEnvironment, definePlugin, type PluginInput } from "./define-plugin.ts";
export { assertTaskIndex, type GeneratedTask, generatedTasks } from "./generated-tasks.ts";
export { hash128, hash64, mix32 } from "./hash.ts";
export { messageText, textMessage, toolCalls } from "./messages.ts";
export {
  difficultyRange,
  type DifficultyRange,
  familyMixture,
  type FamilyMixture,
  pickDifficulty,
  pickFamily,
} from "./mixture.ts";
export { Places, type Queued, unqueued } from "./places.ts";
export { randomStream } from "./random.ts";
export { type RecordedRequest, type RecordingMode, Recordings, type RecordingStore } from "./recordings.ts";
export { repeatedHistory } from "./repeated-history.ts";
export { limitsOf, sandboxLimits, sandboxOptions } from "./sandbox-options.ts";
export { silentLogger } from "./silent-logger.ts";
export { type ScoreContext, singleTurn, type SingleTurnDefinition } from "./single-turn.ts";
export { observe, singleStep } from "./single-agent.ts";
export { statelessTools } from "./stateless-tools.ts";
export { anyTask, taskById } from "./task-ids.ts";
export { randomToken, type TokenFile, writeTokenFile } from "./token-file.ts";

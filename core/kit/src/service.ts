/** Entry for plugins and hosts that ask services and read files: recordings, hashes, text of files, errors of files and services. */

export {
  type ErrorCode,
  type ExampleModelRequest,
  fileFault,
  type GradingOptions,
  isErrorCode,
  isTooDeep,
  type JudgeExample,
  type OpenPolicy,
  parseJson,
  parseStrictJson,
  type SandboxError,
  type SandboxSessionEnd,
  type SandboxTestReport,
  type SandboxTestResult,
  TOO_DEEP,
} from "@mrlm/spec";
export { cacheDirectory } from "./cache-directory.ts";
export { decodeUtf8 } from "./data/decode-utf8.ts";
export { folderFiles, type FolderFile, writeFiles } from "./data/folder-files.ts";
export { jsonlRows } from "./data/read-jsonl.ts";
export { readLines } from "./data/read-lines.ts";
export { hash128, hash64, mix32 } from "./hash.ts";
export type { Queued } from "./places.ts";
export { type RecordingMode, Recordings, type RecordingStore } from "./recordings.ts";
export { repeatedHistory } from "./repeated-history.ts";
export { silentLogger } from "./silent-logger.ts";
export { traced, traceOption, traceWith } from "./spans.ts";
export { VERSION } from "./version.ts";

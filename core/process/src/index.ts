export {
  type Child,
  type ChildEnd,
  type ChildOptions,
  describeEnd,
  type Grace,
  onLines,
  startChild,
  within,
} from "./child.ts";
export { type CallOptions, Calls, type Notify, serveCalls, type ServeCallsOptions, type ServedCall } from "./calls.ts";
export { type Channel, localChannel, processChannel, threadChannel } from "./channel.ts";
export { type ErrorRecord, fromErrorRecord, toErrorRecord, toKnownError } from "./error-record.ts";
export { beforeEnd } from "./before-end.ts";
export { moduleFile, type ModuleFile } from "./module-file.ts";
export {
  killTree,
  killWholeTree,
  listTree,
  ownTree,
  type ProcessTree,
  signalGroup,
  TREE,
  type TreeProcess,
} from "./process-tree.ts";
export { isAlive } from "./running.ts";
export { temporaryFolder, type TemporaryFolder, temporaryFolders } from "./temporary-folder.ts";
export { randomToken, writeTokenFile } from "./token-file.ts";

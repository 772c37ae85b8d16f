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
export { Calls, type Notify, serveCalls, type ServedCall } from "./calls.ts";
export { type Channel, localChannel, processChannel, threadChannel } from "./channel.ts";
export { type ErrorRecord, fromErrorRecord, toErrorRecord, toKnownError } from "./error-record.ts";
export { moduleFile } from "./module-file.ts";
export { killTree, listTree, ownTree, type TreeProcess } from "./process-tree.ts";
export { hasOwnerEnded, isAlive, ownerLabel } from "./running.ts";
export { temporaryFolder, temporaryFolders } from "./temporary-folder.ts";
export { randomToken, writeTokenFile } from "./token-file.ts";

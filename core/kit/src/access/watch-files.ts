import type { MrlmError } from "@mrlm/spec";
import { canBeReadAgain, type CredentialFile, readCredentialFileAgain } from "./credential-file.ts";

/** Reactions to changes of files. */
interface Reactions {
  /** Receives the contents, in the order of the files. */
  changed(texts: readonly string[]): void;
  /** Receives the fault of a file that can no longer be read. */
  failed(error: MrlmError): void;
}

/**
 * Reads files again and again, and reports a changed content once it has been the same for one interval: several files are replaced one after the
 * other, and a file that is written in place is incomplete for a moment. Polling also works for volumes that report no changes (NFS, Kubernetes).
 * A pipe is never read again.
 * @param texts contents that are known
 * @returns ends it
 */
export function watchFiles(
  files: readonly CredentialFile[],
  texts: readonly string[],
  reactions: Reactions,
  intervalMs: number,
): () => void {
  if (!files.every(({ path }) => canBeReadAgain(path))) return () => undefined;
  let known = JSON.stringify(texts);
  let latest = known;
  let isReading = false;
  const poll = async (): Promise<void> => {
    const results = await Promise.allSettled(files.map(readCredentialFileAgain));
    const fault = results.find((result) => result.status === "rejected")?.reason as MrlmError | undefined;
    const contents = results.map((result) => (result.status === "fulfilled" ? result.value : ""));
    const state = fault?.message ?? JSON.stringify(contents);
    const isSettled = state === latest;
    latest = state;
    if (!isSettled || state === known) return;
    known = state;
    if (fault === undefined) reactions.changed(contents);
    else reactions.failed(fault);
  };
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    void poll().finally(() => (isReading = false));
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

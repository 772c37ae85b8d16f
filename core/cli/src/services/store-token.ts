import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomToken, temporaryFolder, temporaryFolders } from "@mrlm/process";
import { writeAtomically } from "@mrlm/runtime";
import { fileFault, MrlmError } from "@mrlm/spec";

const NAME = "served.json";

/**
 * Makes a file with a token for a store server, unless its user has one there that no other user can read: remote workers keep their token when the server is
 * started again. Throws WRITE_FAILED.
 */
export function makeStoreToken(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && stat.size > 0 && isPrivate(stat)) return;
  try {
    writeAtomically(path, `${randomToken()}\n`, 0o600);
  } catch (cause) {
    throw new MrlmError("WRITE_FAILED", `The token of the store server cannot be written: ${fileFault(cause)}.`, {
      hint: "Give a token by --token-file.",
      cause,
    });
  }
}

function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
}

/** Writes down for `mrlm play` of this user which token file belongs to the server at an address. Returns a function that removes the note. */
export function announceStoreToken(address: string, tokenFile: string): () => void {
  const folder = temporaryFolder("store");
  writeFileSync(join(folder.path, NAME), JSON.stringify({ address, tokenFile }), { mode: 0o600 });
  return () => folder.remove();
}

/** Returns the token file of the store server that this user runs on this machine at an address, if there is one. */
export function findStoreToken(address: string): string | undefined {
  for (const folder of temporaryFolders("store")) {
    try {
      const served = JSON.parse(readFileSync(join(folder, NAME), "utf8")) as Record<string, string>;
      if (served["address"] === address) return served["tokenFile"];
    } catch {
      // The server is starting or has ended.
    }
  }
  return undefined;
}

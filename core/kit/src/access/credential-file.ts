import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { fileFault, MrlmError } from "@mrlm/spec";

/** Larger files hold no credentials. */
const MAX_BYTES = 1 << 20;

/** File of a credential, with the words by which errors name it: `The token file`. */
export interface CredentialFile {
  readonly what: string;
  readonly path: string;
}

/** Reads a file whole. @throws CONFIG_INVALID if it cannot be read, is empty, or has more than 1 MiB */
export function readCredentialFile(file: CredentialFile): string {
  try {
    const descriptor = openSync(file.path, "r");
    try {
      const buffer = Buffer.alloc(MAX_BYTES + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read)
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
      return checkedText(file, buffer.subarray(0, length));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw readFault(file, cause);
  }
}

/** Reads a file without blocking this process. Otherwise as {@link readCredentialFile}. */
export async function readCredentialFileAgain(file: CredentialFile): Promise<string> {
  try {
    const handle = await open(file.path, "r");
    try {
      const buffer = Buffer.alloc(64 << 10);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      if (bytesRead < buffer.length) return checkedText(file, buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw readFault(file, cause);
  }
  return readCredentialFile(file);
}

/** Whether a path names a regular file. The content of a pipe can be read once. */
export function canBeReadAgain(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Makes the error of a file with unsuitable content. */
export function contentFault({ what, path }: CredentialFile, fault: string, hint: string, cause?: unknown): MrlmError {
  return new MrlmError("CONFIG_INVALID", `${what} ${path} ${fault}.`, { hint, cause });
}

function checkedText(file: CredentialFile, bytes: Buffer): string {
  if (bytes.length > MAX_BYTES) throw contentFault(file, "has more than 1 MiB", "Check the path.");
  if (!isUtf8(bytes)) throw contentFault(file, "is not UTF-8", "Check the path, or write the file again.");
  const text = bytes.toString("utf8");
  if (text.trim() === "") throw contentFault(file, "is empty", "Check the path, or write the file again.");
  return text;
}

function readFault(file: CredentialFile, cause: unknown): MrlmError {
  if (MrlmError.isInstance(cause)) return cause;
  return contentFault(file, `cannot be read: ${fileFault(cause)}`, "Check the path, and that this user may read it.");
}

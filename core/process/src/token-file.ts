import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { temporaryFolder } from "./temporary-folder.ts";

/** File with the bearer token of a server, for its process. Other users cannot read the file; they could read a command-line argument. */
interface TokenFile {
  readonly token: string;
  readonly path: string;
  /** Removes the file. The server reads it once, before it accepts connections. */
  remove(): void;
}

/** Returns a new secret of 256 random bits in hexadecimal. */
export function randomToken(): string {
  return randomBytes(32).toString("hex");
}

/** Writes a token to a file of mode 0600 in a temporary folder of mode 0700. @throws WRITE_FAILED */
export function writeTokenFile(token: string = randomToken()): TokenFile {
  try {
    const folder = temporaryFolder("token");
    const path = join(folder.path, "token");
    writeFileSync(path, token, { mode: 0o600, flag: "wx" });
    return { token, path, remove: folder.remove };
  } catch (cause) {
    throw new MrlmError(
      "WRITE_FAILED",
      `The token of a server that is to be started cannot be written: ${(cause as Error).message}`,
      {
        hint: `Free space in ${tmpdir()}, or set TMPDIR to a directory that this user can write to.`,
        cause,
      },
    );
  }
}

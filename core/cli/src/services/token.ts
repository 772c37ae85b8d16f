import { readFileSync } from "node:fs";
import { fileFault, MrlmError } from "@mrlm/spec";

/** Reads a token from a file, without the white space around it; `undefined` without a file. Throws CONFIG_INVALID if it cannot be read or holds no token. */
export function readToken(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new MrlmError("CONFIG_INVALID", `The token file ${file} cannot be read: ${fileFault(cause)}.`, {
      hint: "Check the path.",
      cause,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new MrlmError("CONFIG_INVALID", `The token file ${file} does not hold a token.`, {
      hint: "A token is one line of printable ASCII without spaces: openssl rand -hex 32 > FILE",
    });
  return token;
}

/** Returns the token in the form of a client's options. */
export function tokenOption(file: string | undefined): { readonly token?: string } {
  const token = readToken(file);
  return token === undefined ? {} : { token };
}

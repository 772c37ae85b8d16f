import { readFileSync } from "node:fs";
import { fileFault, MrlmError } from "@mrlm/spec";

/** The token that a file holds, white space around it left out; `undefined` without a file. Throws CONFIG_INVALID for one that cannot be read or is empty. */
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

/** As a client's options take it. */
export function tokenOption(file: string | undefined): { readonly token?: string } {
  const token = readToken(file);
  return token === undefined ? {} : { token };
}

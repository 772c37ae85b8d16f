import { type JsonObject, MrlmError } from "@mrlm/spec";

/** Parses a whole number of `least` or more. Throws USAGE with the name of the flag. */
export function wholeNumber(text: string, flag: string, least = 0): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least)
    throw new MrlmError("USAGE", `${flag} ${text} is not a whole number of ${least} or more.`);
  if (!Number.isSafeInteger(number)) throw new MrlmError("USAGE", `${flag} ${text} is 2^53 or more.`);
  return number;
}

/** Parses the number of a port. Throws USAGE with the name of the flag. */
export function portNumber(text: string, flag: string): number {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new MrlmError("USAGE", `${flag} ${text} is not a port: give a number from 0 to 65535.`);
  return port;
}

/** Parses a finite number of 0 or more, or of any sign with `mayBeNegative`. Throws USAGE with the name of the flag. */
export function realNumber(text: string, flag: string, options: { readonly mayBeNegative?: boolean } = {}): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || (number < 0 && options.mayBeNegative !== true)) {
    throw new MrlmError(
      "USAGE",
      `${flag} ${text} is not a number${options.mayBeNegative === true ? "" : " of 0 or more"}.`,
    );
  }
  return number;
}

/** Parses a JSON object. Throws USAGE with the name of the flag. */
export function jsonObject(text: string, flag: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MrlmError("USAGE", `${flag} is not JSON: ${(cause as Error).message}`, {
      hint: `For example ${flag} '{"difficulty_range": 3}'.`,
      cause,
    });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new MrlmError("USAGE", `${flag} is not a JSON object: ${text}`, {
    hint: `For example ${flag} '{"difficulty_range": 3}'.`,
  });
}

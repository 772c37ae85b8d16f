import type { Command, OptionValues } from "@commander-js/extra-typings";
import { flagOf } from "../../src/declarations/flag-groups.ts";

/** Flags by their names in camel case, with the text that follows each on the command line; `true` for a flag without a value. */
export type GivenOptions<Options> = { readonly [Name in keyof Options]?: string | readonly string[] | true };

/** Parses flags as their command does. Throws as the parsers of the flags do. */
export function parseOptions<Options extends OptionValues>(
  declare: () => Command<never[], Options>,
  given: GivenOptions<Options>,
): Options {
  const args = Object.entries(given).flatMap(([name, value]) => {
    const flag = flagOf(name);
    return value === true ? [flag] : [value].flat().map((text) => `${flag}=${String(text)}`);
  });
  return declare().exitOverride().parse(args, { from: "user" }).opts();
}

import { defined } from "@mrlm/spec";
import { checkPart, type PartEvent } from "../check/check-part.ts";
import { entryOf, type FindingCode } from "../check/codes.ts";
import type { Finding } from "../check/finding.ts";
import type { PluginPart, PluginSubject } from "../check/plugin-part.ts";
import { type Acknowledgements, type Found, foundBy } from "../check/run-check.ts";
import { PART_KINDS } from "../checks/plugin-parts.ts";
import { SourcePlaces } from "../check/source-places.ts";

/** Options of {@link checkPlugin}. */
export interface CheckPluginOptions {
  /** Checks these parts only: `package`, `environment:math@2`, or an id without its kind or version. Default: all. */
  readonly only?: readonly string[];
  /** Leaves out checks that take long. */
  readonly quick?: boolean;
}

/** Progress or result of {@link checkPlugin}. */
export type CheckEvent = PartEvent | { readonly event: "finding"; readonly finding: Finding };

/** Lists the parts of a plugin, each with its checks. */
export function partsOf(subject: PluginSubject, only?: readonly string[]): PluginPart[] {
  const parts = PART_KINDS.flatMap((kind) => kind(subject));
  return only === undefined ? parts : parts.filter((part) => only.some((name) => isNamed(part.subject, name)));
}

/** Runs all checks of a plugin in this process, with its findings as they are made. */
export async function* checkPlugin(
  subject: PluginSubject,
  { only, quick = false }: CheckPluginOptions = {},
): AsyncGenerator<CheckEvent, void> {
  const places = new SourcePlaces(subject.directory);
  for (const part of partsOf(subject, only)) {
    const checking = checkPart(part, { quick });
    for (;;) {
      const { value, done } = await checking.next();
      if (done !== true) yield value;
      else {
        for (const found of value) yield { event: "finding", finding: withPlace(found, places) };
        break;
      }
    }
  }
}

/** Describes what a plugin did outside of a check as a finding. `about` is a text of the source near it. */
export function findingOf(
  code: FindingCode,
  error: unknown,
  context: {
    readonly subject: string;
    readonly places: SourcePlaces;
    readonly acknowledged?: Acknowledgements | undefined;
    readonly about?: string;
    readonly fix?: string | undefined;
  },
): Finding {
  const { places, about, fix, ...of } = context;
  const found = foundBy({ code, name: entryOf(code).title, ...defined({ about }) }, error, of);
  return withPlace(fix === undefined ? found : { ...found, fix }, places);
}

function withPlace({ error, about, ...finding }: Found, places: SourcePlaces): Finding {
  const place = finding.place ?? places.of({ error, about, subject: finding.subject });
  return place === undefined ? finding : { ...finding, place };
}

/** Whether a name is that of a part: `environment:math@2`, `environment:math`, `math@2` or `math`. */
export function isNamed(subject: string, name: string): boolean {
  const id = subject.slice(subject.indexOf(":") + 1);
  return [subject, id].some((full) => full === name || full.startsWith(`${name}@`));
}

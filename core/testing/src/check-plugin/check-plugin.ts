import { checkPart, type PartEvent } from "../check/check-part.ts";
import type { Finding } from "../check/finding.ts";
import type { PluginPart, PluginSubject } from "../check/plugin-part.ts";
import { PART_KINDS } from "../checks/plugin-parts.ts";
import { SourcePlaces } from "./source-places.ts";

/** Options of {@link checkPlugin}. */
export interface CheckPluginOptions {
  /** Checks these parts only: `package`, `environment:math@1`, or an id without its kind or version. Default: all. */
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
        for (const { error, about, ...finding } of value) {
          const place = finding.place ?? places.of({ error, about, subject: part.subject });
          yield { event: "finding", finding: place === undefined ? finding : { ...finding, place } };
        }
        break;
      }
    }
  }
}

function isNamed(subject: string, name: string): boolean {
  const id = subject.slice(subject.indexOf(":") + 1);
  return [subject, id].some((full) => full === name || full.startsWith(`${name}@`));
}

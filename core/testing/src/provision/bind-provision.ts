import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExampleContext } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { assertReleased, heldResources } from "./held-resources.ts";
import type { Opened, Source } from "./source.ts";

/** Provision that all checks of it share. */
export interface Provision<T> {
  readonly value: T;
  readonly context: ExampleContext;
  /** Time in milliseconds after which what was used must be released. */
  readonly releaseMs: number;
}

/** Options of {@link bindProvision}. */
export interface BindOptions<T, Subject> {
  /** Returns the subject of the checks. */
  subjectOf(provision: Provision<T>): Subject | Promise<Subject>;
  /** Actions before the close, for example to leave something running. */
  closing?(subject: Subject): Promise<void>;
  /** Time limit of each check in milliseconds; default 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Gives checks one shared provision. The first check makes it; the last one closes it, after which no process, handle or file of it may remain. */
export function bindProvision<T, Subject>(
  checks: readonly Check<Subject>[],
  source: Source<T>,
  { subjectOf, closing, timeoutMs = 60_000 }: BindOptions<T, Subject>,
): Check<void>[] {
  const releaseMs = Math.min(5_000, timeoutMs / 4);
  const start = async () => {
    const directory = await mkdtemp(join(tmpdir(), "mrlm-check-"));
    const before = await heldResources(directory);
    const opened = await source.open(directory);
    const subject = await subjectOf({
      value: opened.value,
      context: { baseUrl: opened.baseUrl ?? "", directory },
      releaseMs,
    });
    return { directory, before, opened, subject };
  };
  let started: ReturnType<typeof start> | undefined;
  const shared = (): ReturnType<typeof start> => (started ??= start());
  return [
    {
      code: "PROVISION_UNAVAILABLE",
      name: "can be made",
      gate: true,
      timeoutMs,
      run: async () => void (await shared()),
    },
    ...checks.map((check): Check<void> => ({
      timeoutMs,
      ...check,
      run: async () => check.run((await shared()).subject),
    })),
    {
      code: "PROVISION_LEAK",
      name: "closing it leaves no process, handle or file",
      timeoutMs,
      run: async () => {
        const { directory, before, opened, subject } = await shared();
        try {
          await closing?.(subject);
          await opened.close();
          await assertReleased(before, { directory, releaseMs }, "It was closed");
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      },
    },
  ];
}

/** Uses a provision in an empty folder and closes it. */
export async function withOpened<T, R>(
  open: (directory: string) => Promise<Opened<T>>,
  use: (value: T) => Promise<R>,
): Promise<R> {
  const directory = await mkdtemp(join(tmpdir(), "mrlm-check-"));
  const opened = await open(directory);
  try {
    return await use(opened.value);
  } finally {
    await opened.close();
    await rm(directory, { recursive: true, force: true });
  }
}

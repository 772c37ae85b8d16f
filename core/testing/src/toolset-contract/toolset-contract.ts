import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolEpisode, Toolset } from "@mrlm/spec";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { callChecks } from "./call-checks.ts";
import { definitionChecks } from "./definition-checks.ts";
import { episodeChecks } from "./episode-checks.ts";
import { assertReleased, heldResources } from "./held-resources.ts";
import type { SampleCall, ToolsetCheck } from "./toolset-subject.ts";

/** Options of the contract suite. */
export interface ToolsetContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  /** Makes the toolset. `directory` is an empty folder; a toolset that writes files writes them there, and the suite requires that none remains. */
  readonly make: (directory: string) => Toolset | Promise<Toolset>;
  /** A successful call of each tool, in an order in which they succeed in one new episode. */
  readonly calls: readonly SampleCall[];
  /** Files of the episodes, by path. */
  readonly files?: ToolEpisode["files"];
  /** Call that changes the state of its episode, and call whose result shows it. Omitted by tools without state. */
  readonly state?: { readonly change: SampleCall; readonly read: SampleCall };
  /** Call that runs for at least some seconds unless it is aborted; default: the last of `calls`. */
  readonly slow?: SampleCall;
  /** Episodes that are open at once; default 8. */
  readonly episodes?: number;
  /** Time limit of each test in milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** Functions that register tests; default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/**
 * Registers a test for each property of a toolset: definitions, schemas, invalid arguments, separate episodes, repeated episodes, abort, close. Tools are
 * called as a host calls them. The tests share one toolset, and the last one closes it: afterwards no process, handle or file remains.
 */
export function toolsetContract(options: ToolsetContractOptions): void {
  const { name, make, calls, files, state, slow = calls.at(-1), episodes = 8, timeoutMs = 60_000 } = options;
  const releaseMs = Math.min(10_000, timeoutMs / 4);
  const registry = registryOf(options.registry);
  let made: Promise<{ toolset: Toolset; directory: string; before: Awaited<ReturnType<typeof heldResources>> }>;
  const parts = (): typeof made =>
    (made ??= (async () => {
      const directory = await mkdtemp(join(tmpdir(), "mrlm-toolset-"));
      const before = await heldResources(directory);
      return { toolset: await make(directory), directory, before };
    })());
  const checks: readonly ToolsetCheck[] = [...definitionChecks, ...callChecks, ...episodeChecks];
  registry.describe(`the contract of ${name}`, () => {
    for (const check of checks) {
      if (check.needsState === true && state === undefined) continue;
      const run = async (): Promise<void> => {
        const { toolset, directory } = await parts();
        await check.run({ toolset, directory, calls, files, state, slow, episodes, releaseMs });
      };
      registry.test(check.name, run, timeoutMs);
    }
    const close = async (): Promise<void> => {
      const { toolset, directory, before } = await parts();
      try {
        await toolset.close?.();
        await assertReleased(before, { directory, releaseMs }, "The toolset was closed");
      } finally {
        await rm(directory, { recursive: true });
      }
    };
    registry.test("closing it leaves no process, handle or file", close, timeoutMs);
  });
}

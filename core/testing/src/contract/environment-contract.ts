import type { JsonObject } from "@mrlm/spec";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { type Transport, inProcess, overGrpc } from "../transports.ts";
import type { AnyPlugin } from "./any-plugin.ts";
import type { Check } from "./check.ts";
import { fixtureChecks } from "./fixture-checks.ts";
import { sessionChecks } from "./session-checks.ts";
import { type Subject, makeSubject } from "./subject.ts";
import { taskChecks } from "./task-checks.ts";
import { transportCheck } from "./transport-check.ts";

/** What to test, and how. */
export interface EnvironmentContractOptions {
  /** The plugin that provides the environment, and those that provide what it requires. */
  readonly plugins: readonly AnyPlugin[];
  /** `math@1`, or `math`. */
  readonly environment: string;
  /** Options under which it is tested; a fixture's own come on top. */
  readonly options?: JsonObject;
  /** In process, and over gRPC by the multiplexed stream and by unary calls, unless given. */
  readonly transports?: Readonly<Record<string, Transport>>;
  /** Of each test, in milliseconds; 30,000 unless given. */
  readonly timeoutMs?: number;
  /** The global `describe` and `test` (jest) unless given; those of node:test where there are none. */
  readonly registry?: TestRegistry;
}

/**
 * Registers a test for everything that an environment promises: seeds and determinism, order, what it says, tasks and splits, that
 * private fields stay private, its own fixtures, closing and aborting; each in process and over gRPC, and that the two cannot be told
 * apart.
 */
export function environmentContract(options: EnvironmentContractOptions): void {
  const { plugins, environment, timeoutMs = 30_000 } = options;
  const registry = registryOf(options.registry);
  const transports = options.transports ?? {
    "in process": inProcess,
    "over gRPC": overGrpc(),
    "over gRPC, unary": overGrpc({ transport: "unary" }),
  };
  registry.describe(`the contract of ${environment}`, () => {
    for (const [name, transport] of Object.entries(transports)) {
      registry.describe(name, () => {
        for (const check of environmentChecks(plugins)) {
          registry.test(
            check.name,
            () => runCheck(check, () => makeSubject(plugins, environment, transport, options.options)),
            timeoutMs,
          );
        }
      });
    }
    registry.test(
      `${Object.keys(transports).join(" = ")}`,
      () =>
        transportCheck(
          Object.values(transports).map(
            (transport) => () => makeSubject(plugins, environment, transport, options.options),
          ),
        ),
      timeoutMs,
    );
  });
  function environmentChecks(all: readonly AnyPlugin[]): Check[] {
    const definition = all
      .flatMap((plugin) => plugin.environments ?? [])
      .find(({ id }) => id === environment || id.startsWith(`${environment}@`));
    return [...sessionChecks, ...taskChecks, ...fixtureChecks(definition?.fixtures ?? [])];
  }
}

/** Runs one check on a subject of its own. */
export async function runCheck(check: Check, make: () => Promise<Subject>): Promise<void> {
  const subject = await make();
  try {
    await check.run(subject);
  } finally {
    await subject.close();
  }
}

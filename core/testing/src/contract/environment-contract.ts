import type { JsonObject } from "@mrlm/spec";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { type Transport, inProcess, overGrpc } from "../transports.ts";
import type { AnyPlugin } from "./any-plugin.ts";
import type { Check } from "./check.ts";
import { fixtureChecks } from "./fixture-checks.ts";
import { roleChecks } from "./role-checks.ts";
import { sessionChecks } from "./session-checks.ts";
import { type Subject, makeSubject } from "./subject.ts";
import { taskChecks } from "./task-checks.ts";
import { transportCheck } from "./transport-check.ts";

/** Options of {@link environmentContract}. */
export interface EnvironmentContractOptions {
  /** Plugins that provide the environment and its requirements. */
  readonly plugins: readonly AnyPlugin[];
  /** `math@1`, or `math`. */
  readonly environment: string;
  /** Options of the environment; those of a fixture are merged over them. */
  readonly options?: JsonObject;
  /** Default: in process, and over gRPC by the multiplexed stream and by unary calls. */
  readonly transports?: Readonly<Record<string, Transport>>;
  /** Time limit of each test in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** Default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/**
 * Registers tests of the contract of an environment: seeds and determinism, order of calls, description, tasks and splits, secrecy of private
 * fields, fixtures, close and abort. Each runs in process and over gRPC, and both must give equal bytes.
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
    return [
      ...sessionChecks,
      ...taskChecks,
      ...fixtureChecks(definition?.fixtures ?? []),
      ...(definition === undefined ? [] : roleChecks(definition)),
    ];
  }
}

/** Runs one check on a new subject. */
export async function runCheck(check: Check, make: () => Promise<Subject>): Promise<void> {
  const subject = await make();
  try {
    await check.run(subject);
  } finally {
    await subject.close();
  }
}

import type { JsonObject } from "@mrlm/spec";
import { EPISODES } from "../check/attack-options.ts";
import { failFor } from "../check/fail-for.ts";
import { isOpen } from "../check/finding.ts";
import { runCheck } from "../check/run-check.ts";
import { contractChecks, failureChecks, firstChecks, playChecks } from "../checks/environment-checks.ts";
import type { AnyPlugin } from "../any-plugin.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { findDefinition, makeSubject } from "../contract/subject.ts";
import { transportCheck } from "../contract/transport-check.ts";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { type Transport, inProcess, overGrpc } from "../transports.ts";

/** Options of {@link environmentContract}. */
export interface EnvironmentContractOptions {
  /** Plugins that provide the environment and its requirements. */
  readonly plugins: readonly AnyPlugin[];
  /** `math@2`, or `math`. */
  readonly environment: string;
  /** Options of the environment; those of a fixture are merged over them. */
  readonly options?: JsonObject;
  /** Default: in process, and over gRPC by the multiplexed stream and by unary calls. */
  readonly transports?: Readonly<Record<string, Transport>>;
  /** Also runs the checks that take longer, as `mrlm check` does without `--quick`; default false. */
  readonly thorough?: boolean;
  /** Time limit of each test in milliseconds; default 120,000, so that a loaded machine does not fail it. */
  readonly timeoutMs?: number;
  /** Default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/**
 * Registers a test for each check of an environment that `mrlm check` makes: calls, tasks, fixtures and roles in process and over gRPC, with equal
 * bytes; options, determinism, rewards, data and leaks in process, and a search of 200 episodes for programs that earn without solving. A test fails for errors, and for warnings that the definition does not acknowledge.
 */
export function environmentContract(options: EnvironmentContractOptions): void {
  const { plugins, environment, thorough = false, timeoutMs = 120_000 } = options;
  const registry = registryOf(options.registry);
  const definition = findDefinition(plugins, environment);
  const transports = options.transports ?? {
    "in process": inProcess,
    "over gRPC": overGrpc(),
    "over gRPC, unary": overGrpc({ transport: "unary" }),
  };
  const register = (checks: readonly EnvironmentCheck[], transport: Transport): void => {
    for (const check of checks) {
      // A short search runs in every suite.
      if (!thorough && check.quick === false && check.code !== "STRATEGY_PAYS") continue;
      const run = async (): Promise<void> => {
        const subject = await makeSubject(plugins, environment, transport, options.options);
        try {
          const about = { subject: `environment:${definition.id}`, acknowledged: definition.acknowledged };
          failFor((await runCheck(check, subject, about)).filter(isOpen));
        } finally {
          await subject.close();
        }
      };
      registry.test(check.name, run, Math.max(timeoutMs, check.timeoutMs ?? 0));
    }
  };
  registry.describe(`the contract of ${environment}`, () => {
    for (const [name, transport] of Object.entries(transports))
      registry.describe(name, () => register(contractChecks(definition), transport));
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
    const checks = [...firstChecks, ...playChecks(thorough ? {} : { episodes: EPISODES.suite }), ...failureChecks];
    registry.describe("behaviour", () => register(checks, inProcess));
  });
}

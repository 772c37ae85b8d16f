import { isObject, type JsonObject, type Metrics, type Trajectory } from "@mrlm/spec";

/** Calls of one tool: numbers of calls, of results with `isError` and of truncated results, and seconds. */
export interface ToolUsage {
  readonly calls: number;
  readonly errors: number;
  readonly truncated: number;
  readonly seconds: number;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NONE: ToolUsage = { calls: 0, errors: 0, truncated: 0, seconds: 0 };

/** Returns the usage of tools that the host reports in the `info` of an episode's last step. Ignores values of another form: an environment may use the key itself. */
export function toolUsageOf({ info }: Pick<Trajectory, "info">): Readonly<Record<string, ToolUsage>> {
  const tools = info?.["tools"];
  if (!isObject(tools)) return {};
  return Object.fromEntries(
    Object.entries(tools as JsonObject).flatMap(([name, value]) => {
      const usage = { ...NONE, ...(value as Partial<ToolUsage> | null) };
      const { calls, errors, truncated, seconds } = usage;
      const isUsage = [calls, errors, truncated, seconds].every((each) => Number.isFinite(each) && each >= 0);
      return NAME.test(name) && calls > 0 && isUsage ? [[name, { calls, errors, truncated, seconds }]] : [];
    }),
  );
}

/** Returns the number of calls of an episode that are malformed and were not run. */
function malformedCallsOf({ turns }: Pick<Trajectory, "turns">): number {
  return turns.reduce(
    (sum, { response }) => sum + response.parts.filter(({ type }) => type === "malformed-call").length,
    0,
  );
}

/** Sum of the usage of tools over episodes. */
export class ToolUsageTally {
  readonly #sums = new Map<string, ToolUsage>();
  #episodes = 0;
  #malformed = 0;
  #hasTools = false;

  add(trajectory: Pick<Trajectory, "info" | "turns">): void {
    this.#episodes++;
    const malformed = malformedCallsOf(trajectory);
    this.#malformed += malformed;
    this.#hasTools ||= malformed > 0 || trajectory.turns.some(({ tools = [] }) => tools.length > 0);
    for (const [name, usage] of Object.entries(toolUsageOf(trajectory))) {
      const sum = this.#sums.get(name) ?? NONE;
      this.#sums.set(name, {
        calls: sum.calls + usage.calls,
        errors: sum.errors + usage.errors,
        truncated: sum.truncated + usage.truncated,
        seconds: sum.seconds + usage.seconds,
      });
    }
  }

  /** Returns the usage by tool as means over the episodes, sorted by name. */
  means(): Readonly<Record<string, ToolUsage>> {
    const share = (sum: number): number => sum / this.#episodes;
    return Object.fromEntries(
      this.#sorted().map(([name, { calls, errors, truncated, seconds }]) => [
        name,
        { calls: share(calls), errors: share(errors), truncated: share(truncated), seconds: share(seconds) },
      ]),
    );
  }

  /** Returns the mean number of malformed calls in an episode, which name no tool; `undefined` where no tools were offered. */
  malformed(): number | undefined {
    return this.#hasTools ? this.#malformed / this.#episodes : undefined;
  }

  /** Returns metrics: `tools/NAME/calls`, `errors`, `truncated` and `seconds`, and `tools/malformed`, each a mean over the episodes. */
  metrics(): Metrics {
    return {
      ...Object.fromEntries(
        this.#sorted().flatMap(([name, usage]) =>
          Object.entries(usage).map(([key, sum]) => [`tools/${name}/${key}`, { sum, count: this.#episodes }]),
        ),
      ),
      ...(this.#hasTools ? { "tools/malformed": { sum: this.#malformed, count: this.#episodes } } : {}),
    };
  }

  #sorted(): (readonly [string, ToolUsage])[] {
    return [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

import type { JsonObject, Judge, Scorer } from "@mrlm/spec";
import type { EnvironmentSource, ServiceKind, ServiceTypes } from "../plugins/plugin-kinds.ts";

/** Judge or scorer that stands in place of those that environments require. */
export type Grader = { readonly judge: Judge } | { readonly scorer: Scorer };

/** Source of environments whose judges, or scorers, are all one. */
export class ReplacedGraders implements EnvironmentSource {
  readonly #source: EnvironmentSource;
  readonly #kind: "judge" | "scorer";
  readonly #grader: Judge | Scorer;
  /** Ids of the judges or scorers that environments have required. */
  readonly replaced = new Set<string>();

  /** @param options of each request, over those that the environment states */
  constructor(source: EnvironmentSource, grader: Grader, options: JsonObject = {}) {
    this.#source = source;
    const withOptions = <R extends { readonly options?: JsonObject }>(request: R): R =>
      Object.keys(options).length === 0 ? request : { ...request, options: { ...request.options, ...options } };
    // Without the determinism of the grader: the environment takes the seeds of stored episodes as before.
    if ("judge" in grader) {
      this.#kind = "judge";
      this.#grader = { judge: (request, given) => grader.judge.judge(withOptions(request), given) };
    } else {
      this.#kind = "scorer";
      this.#grader = { score: (request) => grader.scorer.score(withOptions(request)) };
    }
  }

  environments(): readonly string[] {
    return this.#source.environments();
  }

  environment: EnvironmentSource["environment"] = (name) => this.#source.environment(name);

  packageOf: EnvironmentSource["packageOf"] = (id) => this.#source.packageOf(id);

  async service<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]> {
    if (kind !== this.#kind) return this.#source.service(kind, id, asker);
    this.replaced.add(id);
    return this.#grader as ServiceTypes[K];
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

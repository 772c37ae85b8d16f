import type { Judge } from "@mrlm/spec";
import type { EnvironmentSource, ServiceKind, ServiceTypes } from "../plugins/plugin-kinds.ts";

/** Source of environments whose judges are all one judge. */
export class ReplacedJudge implements EnvironmentSource {
  readonly #source: EnvironmentSource;
  readonly #judge: Judge;
  /** Ids of the judges that environments have required. */
  readonly replaced = new Set<string>();

  constructor(source: EnvironmentSource, judge: Judge) {
    this.#source = source;
    // Without the judge's determinism: the environment takes the seeds of stored episodes as before.
    this.#judge = { judge: (request, options) => judge.judge(request, options) };
  }

  environments(): readonly string[] {
    return this.#source.environments();
  }

  environment: EnvironmentSource["environment"] = (name) => this.#source.environment(name);

  packageOf: EnvironmentSource["packageOf"] = (id) => this.#source.packageOf(id);

  async service<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]> {
    if (kind !== "judge") return this.#source.service(kind, id, asker);
    this.replaced.add(id);
    return this.#judge as ServiceTypes[K];
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

import { silentLogger } from "@mrlm/kit/service";
import { type Demonstration, type Logger, MrlmError, type Policy, type TaskId } from "@mrlm/spec";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  OpenOptions,
  ScriptedPlayer,
} from "@mrlm/spec/host";
import { canonicalJson } from "../names/canonical-json.ts";
import type { EnvironmentSource } from "../plugins/plugin-kinds.ts";
import { DataFiles } from "./data-files.ts";
import { type Deadlines, DEFAULT_DEADLINES } from "./deadlines.ts";
import { demonstrateTasks } from "./demonstrations.ts";
import {
  describeEnvironment,
  openScriptedPolicy,
  openSession,
  prepareEnvironment,
  type PreparedEnvironment,
} from "./prepared-environment.ts";
import type { Session } from "./session.ts";

/** Number of environments under different options whose task sources are cached. The least recently used one is evicted first. */
const MAX_PREPARED = 256;

export interface LocalHostOptions {
  readonly source: EnvironmentSource;
  readonly logger?: Logger;
  readonly deadlines?: Partial<Deadlines>;
  /** Folder below which options may name files, for hosts that serve other processes; default: any file. */
  readonly dataRoot?: string;
  /** Base of relative file names without a root; default: the working directory. */
  readonly dataDirectory?: string;
}

/** Host of the environments of plugins in this process. */
export class LocalHost implements EnvironmentHost {
  readonly #source: EnvironmentSource;
  readonly #logger: Logger;
  readonly #deadlines: Deadlines;
  readonly #files: DataFiles;
  readonly #prepared = new Map<string, Promise<PreparedEnvironment>>();
  readonly #sessions = new Set<Session>();
  #isClosed = false;

  constructor(options: LocalHostOptions) {
    this.#source = options.source;
    this.#logger = options.logger ?? silentLogger;
    this.#files = new DataFiles(options.dataRoot, options.dataDirectory);
    this.#deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines };
  }

  async list(): Promise<readonly EnvironmentDescription[]> {
    return Promise.all(this.#source.environments().map((id) => this.#listed(id)));
  }

  async describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    return (await this.#prepare(environment)).description;
  }

  async open(environment: EnvironmentRef, options: OpenOptions = {}): Promise<Session> {
    const prepared = await this.#prepare(environment);
    const session = openSession(prepared, this.#logger, {
      name: options.session ?? "",
      onClose: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  async demonstrate(
    environment: EnvironmentRef,
    tasks: readonly TaskId[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly Demonstration[]> {
    return demonstrateTasks(await this.#prepare(environment), tasks, { logger: this.#logger, ...options });
  }

  async scripted(environment: EnvironmentRef, player: ScriptedPlayer): Promise<Policy> {
    return openScriptedPolicy(await this.#prepare(environment), this.#logger, player);
  }

  /** Ends every open session, then closes the services of the plugins. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.allSettled([...this.#sessions].map((session) => session.close()));
    await this.#source.close();
  }

  /** Lists all environments. One that needs options is listed without tasks. */
  async #listed(id: string): Promise<EnvironmentDescription> {
    try {
      return await this.describe({ id });
    } catch (error) {
      if (!MrlmError.hasCode(error, "OPTIONS_INVALID")) throw error;
      return describeEnvironment(await this.#source.environment(id), { providedBy: this.#source.packageOf(id) });
    }
  }

  async #prepare(environment: EnvironmentRef): Promise<PreparedEnvironment> {
    if (this.#isClosed)
      throw new MrlmError(
        "SERVER_UNAVAILABLE",
        `Environment ${environment.id} was asked of a host that has been closed.`,
        { isRetryable: false },
      );
    const definition = await this.#source.environment(environment.id);
    const key = `${definition.id} ${canonicalJson(environment.options ?? {})}`;
    const known = this.#prepared.get(key);
    const prepared =
      known ??
      prepareEnvironment(definition, environment.options, {
        services: this.#source,
        logger: this.#logger,
        deadlines: this.#deadlines,
        files: this.#files,
        providedBy: this.#source.packageOf(definition.id),
      });
    this.#prepared.delete(key);
    this.#prepared.set(key, prepared);
    if (known === undefined) prepared.catch(() => this.#prepared.delete(key));
    const oldest = this.#prepared.keys().next().value;
    if (this.#prepared.size > MAX_PREPARED && oldest !== undefined) this.#prepared.delete(oldest);
    return prepared;
  }
}

import { silentLogger } from "@mrlm/kit/service";
import {
  type AlgorithmDefinition,
  defined,
  type EnvironmentDefinition,
  type ErrorCode,
  type Factory,
  type JsonObject,
  type Logger,
  MrlmError,
  type Plugin,
  type PolicySource,
  type RewardModel,
  type TrackerDefinition,
} from "@mrlm/spec";
import type {
  EngineProvider,
  EnvironmentPackage,
  LauncherDefinition,
  ProvisionKind,
  SamplerSource,
} from "@mrlm/spec/host";
import { capitalised } from "../names/capitalised.ts";
import { installHint, providerOf } from "./install-hint.ts";
import { didYouMean, quoted } from "../names/nearest.ts";
import { withBareNames } from "../names/versioned.ts";
import { behaviourFile, behaviourHash } from "./behaviour.ts";
import { discoverPlugins, type PluginOptions } from "./discover-plugins.ts";
import { assertNoneTwice } from "./load-plugin.ts";
import {
  missingRequirement,
  PluginRegistry,
  type Provider,
  type RegistryEntry,
  type PluginErrors,
} from "./plugin-registry.ts";
import { pluginContext, ServiceGraph } from "./plugin-services.ts";
import { recordPlugin } from "./service-plugins.ts";
import {
  type AlgorithmSource,
  type EnvironmentSource,
  provisionsOf,
  requirementsOf,
  type ServiceKind,
  type ServiceTypes,
} from "./plugin-kinds.ts";

/** Member of a plugin's export that holds the factories of a kind. */
const FACTORIES = {
  scorer: "scorers",
  judge: "judges",
  sandbox: "sandboxes",
  tool: "tools",
  workspace: "workspaces",
  policy: "policies",
  sampler: "samplers",
  engine: "engines",
} as const;

/** Reward models of a process, by the path of a run or of a model. */
interface RewardModelSource {
  model(path: string): RewardModel;
  close(): Promise<void>;
}

/** Plugins of a project. Their services are created at first use and shared. */
export class PluginHost implements EnvironmentSource, AlgorithmSource {
  readonly registry: PluginRegistry;
  readonly #logger: Logger;
  readonly #directory: string;
  readonly #locate: PluginErrors;
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #graph = new ServiceGraph();
  #rewardModels: RewardModelSource | undefined;
  readonly #rewardModelPaths = new Set<string>();

  private constructor(
    registry: PluginRegistry,
    logger: Logger,
    directory: string,
    locate: PluginErrors = (error) => error,
  ) {
    this.registry = registry;
    this.#logger = logger;
    this.#directory = directory;
    this.#locate = locate;
  }

  /**
   * Reads the manifests of the project around `directory` and of the plugins that `plugins` names. Runs no plugin's code, except that of plugins with options,
   * which their own schema must validate.
   */
  static async discover(options: {
    readonly directory: string;
    readonly plugins?: Readonly<Record<string, PluginOptions>>;
    /** Base of relative paths among `plugins`; default: `directory`. */
    readonly relativeTo?: string;
    /** Adds the place in the configuration to errors about an entry of `plugins`. */
    readonly locate?: PluginErrors;
    readonly logger?: Logger;
  }): Promise<PluginHost> {
    const { directory, plugins = {}, relativeTo = directory, locate, logger = silentLogger } = options;
    const entries = discoverPlugins(directory, plugins, relativeTo, locate);
    return new PluginHost(await PluginRegistry.of(entries, locate), logger, relativeTo, locate);
  }

  /** Creates a host from the default exports of plugins. */
  static async of(
    // Each has options of its own type.
    // oxlint-disable-next-line typescript/no-explicit-any
    plugins: readonly Plugin<any>[],
    options: { readonly plugins?: Readonly<Record<string, JsonObject>>; readonly logger?: Logger } = {},
  ): Promise<PluginHost> {
    for (const plugin of plugins) assertNoneTwice(plugin);
    // A default export has no manifest: its services may require all services of the other plugins.
    const mayRequire = (plugin: Plugin): readonly string[] => {
      const { tools, scorers, judges, policies } = plugin;
      if ([tools, scorers, judges, policies].every((each) => each === undefined)) return [];
      const others = plugins.filter((other) => other !== plugin).flatMap(provisionsOf);
      return others.filter((id) => /^(scorer|judge|sandbox|tool|workspace):/.test(id));
    };
    const registry = await PluginRegistry.of(
      plugins.map((plugin): RegistryEntry => ({
        name: plugin.name,
        version: "0.0.0",
        provides: provisionsOf(plugin),
        requires: [...new Set([...requirementsOf(plugin), ...mayRequire(plugin)])],
        options: options.plugins?.[plugin.name],
        load: async () => plugin,
      })),
    );
    return new PluginHost(registry, options.logger ?? silentLogger, ".");
  }

  environments(): readonly string[] {
    return this.registry.ids("environment");
  }

  algorithms(): readonly string[] {
    return this.registry.ids("algorithm");
  }

  async environment(name: string): Promise<EnvironmentDefinition> {
    const id = this.#resolve("environment", name, "ENVIRONMENT_NOT_FOUND");
    const { plugin } = await this.registry.provider("environment", id);
    return plugin.environments?.find((definition) => definition.id === id) as EnvironmentDefinition;
  }

  packageOf(id: string): EnvironmentPackage | undefined {
    const { name, version, directory } = this.registry.entry("environment", id) ?? {};
    if (name === undefined || version === undefined || directory === undefined) return undefined;
    const behaviour = behaviourHash(behaviourFile.read(directory), id);
    return { name, version, ...defined({ behaviour }) };
  }

  async algorithm(name: string): Promise<AlgorithmDefinition> {
    const id = this.#resolve("algorithm", name, "PLUGIN_NOT_FOUND");
    const { plugin } = await this.registry.provider("algorithm", id);
    return plugin.algorithms?.find((definition) => definition.id === id) as AlgorithmDefinition;
  }

  async tracker(name: string): Promise<TrackerDefinition> {
    const id = this.#resolve("tracker", name, "PLUGIN_NOT_FOUND");
    const { plugin } = await this.registry.provider("tracker", id);
    return plugin.trackers?.find((definition) => definition.name === id) as TrackerDefinition;
  }

  async launcher(name: string): Promise<LauncherDefinition> {
    const id = this.#resolve("launcher", name, "PLUGIN_NOT_FOUND");
    const { plugin } = await this.registry.provider("launcher", id);
    return plugin.launchers?.find((definition) => definition.name === id) as LauncherDefinition;
  }

  engine(name: string): Promise<EngineProvider> {
    return this.#make("engine", this.#resolve("engine", name, "PLUGIN_NOT_FOUND"));
  }

  policies(): readonly string[] {
    return this.registry.ids("policy");
  }

  policy(name: string): Promise<PolicySource<unknown>> {
    return this.#make("policy", this.#resolve("policy", name, "PLAYER_NOT_FOUND"));
  }

  sampler(name: string): Promise<SamplerSource<unknown>> {
    return this.#make("sampler", this.#resolve("sampler", name, "PLUGIN_NOT_FOUND"));
  }

  async service<K extends ServiceKind>(kind: K, name: string, asker: string): Promise<ServiceTypes[K]> {
    const id = this.registry.resolve(kind, name);
    if (id === undefined) throw missingRequirement(capitalised(asker), kind, name, this.registry);
    return this.#make(kind, id);
  }

  /** Sets the reward models of this process, for processes with an engine. They are closed with the services. */
  useRewardModels(models: RewardModelSource): void {
    this.#rewardModels = models;
  }

  /** Paths of the reward models of the services that exist. */
  get rewardModelPaths(): readonly string[] {
    return [...this.#rewardModelPaths];
  }

  /** Closes the services (sandboxes have processes). */
  async close(): Promise<void> {
    const made = [...this.#made.values()];
    this.#made.clear();
    await Promise.allSettled(made.map(async (promise) => ((await promise) as { close?(): Promise<void> }).close?.()));
    await this.#rewardModels?.close();
  }

  #make<T>(kind: keyof typeof FACTORIES, id: string): Promise<T> {
    const key = `${kind}:${id}`;
    const made =
      this.#made.get(key) ?? this.registry.provider(kind, id).then((loaded) => this.#create(kind, id, loaded));
    this.#made.set(key, made);
    // A later request tries again to create it.
    made.catch(() => this.#made.delete(key));
    return made as Promise<T>;
  }

  async #create(kind: keyof typeof FACTORIES, id: string, { plugin, options, entry }: Provider): Promise<unknown> {
    const context = pluginContext({
      entry,
      service: `${kind}:${id}`,
      logger: this.#logger,
      directory: this.#directory,
      graph: this.#graph,
      create: (needed, name, asker) => this.service(needed, name, asker),
      resolve: (needed, name) => this.registry.resolve(needed, name),
      // A service may be created before the engine is there.
      rewardModel: (path) => {
        this.#rewardModelPaths.add(path);
        return { score: async (messages, given) => this.#rewardModel(path).score(messages, given) };
      },
    });
    const factories = plugin[FACTORIES[kind]] as Readonly<Record<string, Factory<unknown, unknown>>>;
    try {
      const service = await (factories[id] as Factory<unknown, unknown>)(context, options);
      recordPlugin(service, plugin.name);
      return service;
    } catch (error) {
      // Some options can be checked only with what they name: a tool that a server must have, a key in the environment.
      const isConfigured = entry.options !== undefined || entry.configuredAs !== undefined;
      const failure = factoryError(`Plugin ${plugin.name} could not make ${kind} ${id}`, error);
      throw isConfigured ? this.#locate(failure, entry.configuredAs ?? entry.name) : failure;
    }
  }

  #rewardModel(path: string): RewardModel {
    if (this.#rewardModels !== undefined) return this.#rewardModels.model(path);
    throw new MrlmError("ENGINE_UNAVAILABLE", "This process has no engine that could hold a reward model.", {
      hint: "Serve the model with `mrlm serve --model RUN`, and name it as the endpoint.",
    });
  }

  #resolve(kind: ProvisionKind, name: string, code: ErrorCode): string {
    const id = this.registry.resolve(kind, name);
    if (id !== undefined) return id;
    const offered = this.registry.ids(kind);
    const suggestion = didYouMean(name, withBareNames(offered));
    const replacement = this.registry.replacement(kind, name);
    const isInstallable = suggestion === "" || providerOf(kind, name) !== undefined;
    const remedy = replacement ?? (isInstallable ? installHint(kind, name) : "");
    const none = `No plugin that provides any ${kind} was found. Plugins are looked for among the dependencies of the project that mrlm is started in: is this its directory?`;
    throw new MrlmError(code, `There is no ${kind} ${quoted(name)}.${suggestion}`, {
      hint: `${remedy} ${offered.length > 0 ? `Available: ${offered.join(", ")}.` : none}`.trimStart(),
    });
  }
}

function factoryError(fact: string, error: unknown): MrlmError {
  if (MrlmError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new MrlmError("PLUGIN_LOAD_FAILED", `${fact}: ${reason}`, { cause: error });
}

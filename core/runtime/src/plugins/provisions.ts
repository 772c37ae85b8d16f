import type {
  AlgorithmDefinition,
  EngineProvider,
  EnvironmentDefinition,
  Judge,
  Plugin,
  Sandbox,
  Scorer,
  Tool,
  TrackerDefinition,
} from "@mrlm/spec";

/** Things that environments require and that are made once and shared. */
export type ServiceKind = "scorer" | "judge" | "sandbox" | "tool";

/** What each kind of service is. */
export interface ServiceTypes {
  scorer: Scorer;
  judge: Judge;
  sandbox: Sandbox;
  tool: Tool;
}

/** Makes services on first use. */
export interface Services {
  /** Rejects with REQUIREMENT_MISSING, naming who asks, when no plugin provides it. */
  service<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]>;
}

/** Where the environments of a host come from. */
export interface EnvironmentSource extends Services {
  /** Ids on offer, from manifests. */
  environments(): readonly string[];
  /** Rejects with ENVIRONMENT_NOT_FOUND (and the nearest name). */
  environment(name: string): Promise<EnvironmentDefinition>;
  close(): Promise<void>;
}

/** Where algorithms, engines and trackers come from. */
export interface AlgorithmSource {
  algorithms(): readonly string[];
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  algorithm(name: string): Promise<AlgorithmDefinition>;
  engine(name: string): Promise<EngineProvider>;
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  tracker(name: string): Promise<TrackerDefinition>;
}

/** What a plugin's default export provides, in the words of its manifest. */
export function provisionsOf(plugin: Plugin): string[] {
  return [
    ...(plugin.environments ?? []).map((definition) => `environment:${definition.id}`),
    ...(plugin.algorithms ?? []).map((definition) => `algorithm:${definition.id}`),
    ...(plugin.trackers ?? []).map(({ name }) => `tracker:${name}`),
    ...Object.keys(plugin.scorers ?? {}).map((id) => `scorer:${id}`),
    ...Object.keys(plugin.judges ?? {}).map((id) => `judge:${id}`),
    ...Object.keys(plugin.sandboxes ?? {}).map((language) => `sandbox:${language}`),
    ...Object.keys(plugin.tools ?? {}).map((id) => `tool:${id}`),
    ...Object.keys(plugin.engines ?? {}).map((id) => `engine:${id}`),
  ];
}

/** Requirements of a plugin's environments that are known without options, each once. */
export function requirementsOf(plugin: Plugin): string[] {
  return [
    ...new Set(
      (plugin.environments ?? []).flatMap(({ requires = [] }) => (typeof requires === "function" ? [] : requires)),
    ),
  ];
}

import type {
  AlgorithmDefinition,
  EnvironmentDefinition,
  Judge,
  Plugin,
  PolicySource,
  Sandbox,
  Scorer,
  Toolset,
  TrackerDefinition,
  Workspaces,
} from "@mrlm/spec";
import type { EngineProvider, EnvironmentPackage, LauncherDefinition, SamplerSource } from "@mrlm/spec/host";

/** Kinds of services that environments require. Each service is created once and shared. */
export type ServiceKind = "scorer" | "judge" | "sandbox" | "tool" | "workspace";

/** Type of each kind of service. */
export interface ServiceTypes {
  scorer: Scorer;
  judge: Judge;
  sandbox: Sandbox;
  tool: Toolset;
  workspace: Workspaces;
}

/** Creates services on first use. */
export interface Services {
  /** Rejects with REQUIREMENT_MISSING, naming the requirer, when no plugin provides it. */
  service<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]>;
}

/** Source of the environments of a host. */
export interface EnvironmentSource extends Services {
  /** Available ids, from manifests. */
  environments(): readonly string[];
  /** Rejects with ENVIRONMENT_NOT_FOUND (and the nearest name). */
  environment(name: string): Promise<EnvironmentDefinition>;
  /** Returns the package that provides an id, where the source knows it. */
  packageOf(id: string): EnvironmentPackage | undefined;
  close(): Promise<void>;
}

export interface PolicySources {
  /** Available ids, from manifests. */
  policies(): readonly string[];
  /** Rejects with PLAYER_NOT_FOUND (and the nearest name). */
  policy(name: string): Promise<PolicySource<unknown>>;
}

/** Source of algorithms, engines, trackers, launchers, samplers and policies. */
export interface AlgorithmSource extends PolicySources {
  algorithms(): readonly string[];
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  algorithm(name: string): Promise<AlgorithmDefinition>;
  engine(name: string): Promise<EngineProvider>;
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  tracker(name: string): Promise<TrackerDefinition>;
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  launcher(name: string): Promise<LauncherDefinition>;
  /** Rejects with PLUGIN_NOT_FOUND (and the nearest name). */
  sampler(name: string): Promise<SamplerSource<unknown>>;
}

/** Lists what a plugin's default export provides, in the format of its manifest. */
export function provisionsOf(plugin: Plugin): string[] {
  return [
    ...(plugin.environments ?? []).map((definition) => `environment:${definition.id}`),
    ...(plugin.algorithms ?? []).map((definition) => `algorithm:${definition.id}`),
    ...(plugin.trackers ?? []).map(({ name }) => `tracker:${name}`),
    ...(plugin.launchers ?? []).map(({ name }) => `launcher:${name}`),
    ...(plugin.stores ?? []).map(({ name }) => `store:${name}`),
    ...Object.keys(plugin.scorers ?? {}).map((id) => `scorer:${id}`),
    ...Object.keys(plugin.judges ?? {}).map((id) => `judge:${id}`),
    ...Object.keys(plugin.sandboxes ?? {}).map((language) => `sandbox:${language}`),
    ...Object.keys(plugin.tools ?? {}).map((id) => `tool:${id}`),
    ...Object.keys(plugin.workspaces ?? {}).map((platform) => `workspace:${platform}`),
    ...Object.keys(plugin.policies ?? {}).map((id) => `policy:${id}`),
    ...Object.keys(plugin.samplers ?? {}).map((id) => `sampler:${id}`),
    ...Object.keys(plugin.engines ?? {}).map((id) => `engine:${id}`),
  ];
}

/** Lists the requirements of a plugin's environments that do not depend on options, each once. */
export function requirementsOf(plugin: Plugin): string[] {
  return [
    ...new Set(
      (plugin.environments ?? []).flatMap(({ requires = [] }) => (typeof requires === "function" ? [] : requires)),
    ),
  ];
}

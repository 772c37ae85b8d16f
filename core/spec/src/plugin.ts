import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AlgorithmDefinition } from "./algorithm.ts";
import type { EngineProvider } from "./engine-provider.ts";
import type { EnvironmentDefinition } from "./environment-definition.ts";
import type { Judge } from "./judge.ts";
import type { LauncherDefinition } from "./launcher.ts";
import type { Logger } from "./logger.ts";
import type { PluginExamples } from "./plugin-examples.ts";
import type { PolicySource } from "./policy-source.ts";
import type { SamplerSource } from "./external-sampler.ts";
import type { RewardModel } from "./reward-model.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Scorer } from "./scorer.ts";
import type { StoreDefinition } from "./store-definition.ts";
import type { Toolset } from "./tool.ts";
import type { TrackerDefinition } from "./tracker.ts";
import type { Workspaces } from "./workspace.ts";

/** Version of the plugin interface in this package. */
export const PLUGIN_API_VERSION = 1;

export type ProvisionKind =
  | "environment"
  | "scorer"
  | "judge"
  | "sandbox"
  | "tool"
  | "workspace"
  | "policy"
  | "sampler"
  | "algorithm"
  | "engine"
  | "tracker"
  | "launcher"
  | "store";

/** The `mrlm` field of a plugin's package.json, read without running its code. */
export interface PluginManifest {
  readonly apiVersion: number;
  /** Path of the module with the default export, relative to the package. */
  readonly entry: string;
  /** Provisions as kind and id: `environment:math@2`, `scorer:math@2`, `sandbox:python`, ... */
  readonly provides: readonly string[];
  /** Services that its environments need under any options: `scorer:math@2`, `sandbox:python`. The host requires those of an environment when it prepares that environment. */
  readonly requires?: readonly string[];
  /**
   * Former ids that its provisions replace, such as `scorer:math@1` for `scorer:math@2`, each with sentences for the hint of an error about the former id: what
   * changed, and how to keep the former behaviour.
   */
  readonly supersedes?: Readonly<Record<string, string>>;
}

/**
 * Input of the factories of a plugin. The services are those that its manifest requires; each is created when it is first asked for. They reject with
 * REQUIREMENT_UNDECLARED for any other, and with PLUGIN_INVALID where services require each other in a circle.
 */
export interface PluginContext {
  readonly logger: Logger;
  scorer(id: string): Promise<Scorer>;
  judge(id: string): Promise<Judge>;
  sandbox(language: string): Promise<Sandbox>;
  tools(id: string): Promise<Toolset>;
  /** @param platform `linux` */
  workspaces(platform: string): Promise<Workspaces>;
  /**
   * Returns the reward model of a run or of a model directory, in the engine of this process. It is loaded at its first use, which rejects with ENGINE_UNAVAILABLE in a
   * process without an engine, such as a server of environments.
   */
  rewardModel(path: string): RewardModel;
  /** Returns the absolute path of a file that an option names. A relative path starts at the folder of the configuration. */
  dataPath(path: string): string;
}

/** Creates one instance of a service, which all environments share. */
export type Factory<T, Options> = (context: PluginContext, options: Options) => T | Promise<T>;

/** Default export of a plugin. */
export interface Plugin<Options = unknown> {
  readonly apiVersion: typeof PLUGIN_API_VERSION;
  /** Name of the package. */
  readonly name: string;
  /** Schema that validates the options of the plugin (section `plugins` of a configuration). */
  readonly options?: StandardSchemaV1<unknown, Options>;
  // Each definition has options of its own type: no one type argument fits all.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly environments?: readonly EnvironmentDefinition<any>[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly algorithms?: readonly AlgorithmDefinition<any>[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly trackers?: readonly TrackerDefinition<any>[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly launchers?: readonly LauncherDefinition<any>[];
  /** The module of a plugin with stores is loaded synchronously: nothing is awaited at its top level. */
  readonly stores?: readonly StoreDefinition[];
  /** Scorers by versioned id: `math@2`. */
  readonly scorers?: Readonly<Record<string, Factory<Scorer, Options>>>;
  readonly judges?: Readonly<Record<string, Factory<Judge, Options>>>;
  /** Sandboxes by language: `python`. */
  readonly sandboxes?: Readonly<Record<string, Factory<Sandbox, Options>>>;
  /** Toolsets by versioned id: `calculator@1`. */
  readonly tools?: Readonly<Record<string, Factory<Toolset, Options>>>;
  /** Providers of workspaces by platform: `linux`. A project has one plugin for each. */
  readonly workspaces?: Readonly<Record<string, Factory<Workspaces, Options>>>;
  /** Sources of players by versioned id: `openai@1`. */
  // Each source has player options of its own type: no one type argument fits all.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly policies?: Readonly<Record<string, Factory<PolicySource<any>, Options>>>;
  /** Servers of other projects that sample, by versioned id: `vllm@1`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly samplers?: Readonly<Record<string, Factory<SamplerSource<any>, Options>>>;
  readonly engines?: Readonly<Record<string, Factory<EngineProvider, Options>>>;
  /** Inputs for checks of these provisions, by kind and id. */
  readonly examples?: PluginExamples;
  /** Warnings of `mrlm check` about anything but an environment that stay, by code, each with the reason. */
  readonly acknowledged?: Readonly<Partial<Record<string, string>>>;
}

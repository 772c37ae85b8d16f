import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { AlgorithmDefinition } from "./algorithm.ts";
import type { EngineProvider } from "./engine-provider.ts";
import type { EnvironmentDefinition } from "./environment-definition.ts";
import type { Judge } from "./judge.ts";
import type { Logger } from "./logger.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Scorer } from "./scorer.ts";
import type { Tool } from "./tool.ts";
import type { TrackerDefinition } from "./tracker.ts";

/** The version of the plugin interface that this package describes. */
export const PLUGIN_API_VERSION = 1;

/** What a plugin can provide. */
export type ProvisionKind =
  | "environment"
  | "scorer"
  | "judge"
  | "sandbox"
  | "tool"
  | "algorithm"
  | "engine"
  | "tracker";

/** The `mrlm` field of a plugin's package.json, read without running its code. */
export interface PluginManifest {
  readonly apiVersion: number;
  /** Module with the default export, relative to the package. */
  readonly entry: string;
  /** `environment:math@1`, `scorer:math@1`, `sandbox:python`, ... */
  readonly provides: readonly string[];
  /** Everything that its environments need under some options: `scorer:math@1`, `sandbox:python`. What one needs is looked for when it is prepared, under its options. */
  readonly requires?: readonly string[];
}

/** What a plugin's factories are given. */
export interface PluginContext {
  readonly logger: Logger;
}

/** Makes one shared instance of something that environments require. */
export type Factory<T, Options> = (context: PluginContext, options: Options) => T | Promise<T>;

/** The default export of a plugin. */
export interface Plugin<Options = unknown> {
  readonly apiVersion: typeof PLUGIN_API_VERSION;
  /** The package's name. */
  readonly name: string;
  /** Validates the plugin's own options (the `plugins` section of a config). */
  readonly options?: StandardSchemaV1<unknown, Options>;
  // Each definition has options of its own type: no one type argument fits all.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly environments?: readonly EnvironmentDefinition<any>[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly algorithms?: readonly AlgorithmDefinition<any>[];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly trackers?: readonly TrackerDefinition<any>[];
  /** By id: `math@1`. */
  readonly scorers?: Readonly<Record<string, Factory<Scorer, Options>>>;
  readonly judges?: Readonly<Record<string, Factory<Judge, Options>>>;
  /** By language: `python`. */
  readonly sandboxes?: Readonly<Record<string, Factory<Sandbox, Options>>>;
  readonly tools?: Readonly<Record<string, Factory<Tool, Options>>>;
  readonly engines?: Readonly<Record<string, Factory<EngineProvider, Options>>>;
}

import type { MrlmError, PolicyId } from "@mrlm/spec";
import type { EnvironmentHost, Player } from "@mrlm/spec/host";
import type { ConfigProblem } from "../config/config-problems.ts";
import type { SourceText } from "../config/source-text.ts";
import type { PolicySources } from "../plugins/plugin-kinds.ts";
import type { FrozenModel } from "./frozen-models.ts";

/** Environments whose scripted policies can act in this process. */
export type ScriptSource = Pick<EnvironmentHost, "scripted">;

/** Players that the roles of a run refer to. */
export interface PlayerSource {
  /** Policies of the run; the only one plays the roles that have no player. */
  readonly trained: readonly PolicyId[];
  /** Player of the policy where it is no model of the engine. */
  readonly measured?: Player;
  readonly frozen: readonly FrozenModel[];
  readonly scripts: ScriptSource;
  /** Policies of plugins. */
  readonly policies: Pick<PolicySources, "policy">;
  readonly source: Pick<SourceText, "locate">;
  /** Creates the error for wrong names. */
  refuse(problems: readonly ConfigProblem[]): MrlmError;
  onNotice(text: string): void;
}

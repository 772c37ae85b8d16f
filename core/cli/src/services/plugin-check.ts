import type { Behaviour } from "@mrlm/runtime";
import type { Finding, MeasuredSpeed, PluginSubject } from "@mrlm/testing";

/** Input of check-worker.ts. */
export interface CheckRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  /** Folder of the project whose other plugins provide what the package does not have itself. */
  readonly project: string;
  /** Checks these parts only. */
  readonly only?: readonly string[];
  readonly quick: boolean;
  /** Limits of the search for programs that solve nothing; default: those of a check. */
  readonly attack?: PluginSubject["attack"];
  /** Records the behaviour and checks nothing: for a comparison with another process. */
  readonly onlyBehaviour?: boolean;
  /** Parts that have been checked, or ended the process. */
  readonly skip: readonly string[];
}

/** The import of another plugin, which provides what the checked one requires, begins. */
export interface ProviderMessage {
  readonly event: "provider";
  readonly name: string;
  readonly requirement: string;
}

/** Part of a plugin, with the number of its checks that run, and of those that `--quick` leaves out. */
export interface CheckedPart {
  readonly subject: string;
  readonly checks: number;
  readonly leftOut: number;
}

/** Message of check-worker.ts. */
export type CheckMessage = { readonly nextMs?: number } & (
  | { readonly event: "phase"; readonly name: "import" | "behaviour" | "end" }
  | ProviderMessage
  | { readonly event: "parts"; readonly parts: readonly CheckedPart[] }
  | { readonly event: "started"; readonly subject: string; readonly check: string }
  | { readonly event: "ended"; readonly subject: string; readonly check: string; readonly seconds: number }
  | { readonly event: "note"; readonly subject: string; readonly check: string; readonly text: string }
  | { readonly event: "part"; readonly subject: string }
  | { readonly event: "finding"; readonly finding: Finding }
  | { readonly event: "speed"; readonly subject: string; readonly speeds: readonly MeasuredSpeed[] }
  /** `variables` are the environment variables that the import reads. */
  | {
      readonly event: "behaviour";
      readonly environments: Behaviour["environments"];
      readonly variables: readonly string[];
    }
  /** The recorded behaviour was written. Sent by the command's process. */
  | { readonly event: "recorded"; readonly environments: number }
);

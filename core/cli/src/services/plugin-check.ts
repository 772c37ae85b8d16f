import type { Behaviour } from "@mrlm/runtime";
import type { Finding, MeasuredSpeed } from "@mrlm/testing";

/** Input of check-worker.ts. */
export interface CheckRequest {
  /** Absolute path of the package. */
  readonly directory: string;
  /** Folder of the project whose other plugins provide what the package does not have itself. */
  readonly project: string;
  /** Checks these parts only. */
  readonly only?: readonly string[];
  readonly quick: boolean;
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

/** Message of check-worker.ts. */
export type CheckMessage = { readonly nextMs?: number } & (
  | { readonly event: "phase"; readonly name: "import" | "behaviour" | "end" }
  | ProviderMessage
  | { readonly event: "parts"; readonly parts: readonly { readonly subject: string; readonly checks: number }[] }
  | { readonly event: "started"; readonly subject: string; readonly check: string }
  | { readonly event: "ended"; readonly subject: string; readonly check: string; readonly seconds: number }
  | { readonly event: "part"; readonly subject: string }
  | { readonly event: "finding"; readonly finding: Finding }
  | { readonly event: "speed"; readonly subject: string; readonly speeds: readonly MeasuredSpeed[] }
  | { readonly event: "behaviour"; readonly environments: Behaviour["environments"] }
  /** The recorded behaviour was written. Sent by the command's process. */
  | { readonly event: "recorded"; readonly environments: number }
);

import { CONTRACT_CODES } from "./codes/contract-codes.ts";
import { DATA_CODES } from "./codes/data-codes.ts";
import { DETERMINISM_CODES } from "./codes/determinism-codes.ts";
import { LEAK_CODES } from "./codes/leak-codes.ts";
import { OPTION_CODES } from "./codes/option-codes.ts";
import { PACKAGE_CODES } from "./codes/package-codes.ts";
import { PROVISION_CODES } from "./codes/provision-codes.ts";
import { REWARD_CODES } from "./codes/reward-codes.ts";
import { SERVICE_CODES } from "./codes/service-codes.ts";

/** `error`: the plugin must change. `warning`: it must change, or its author acknowledges it with a reason. */
export type Severity = "error" | "warning";

/** Entry of a code of findings. */
export interface FindingEntry {
  readonly severity: Severity;
  /** The defect, as a sentence. */
  readonly title: string;
  /** When it is one and when not, where the title leaves that open. */
  readonly rule?: string;
  /** Default fix: what the author does. */
  readonly fix: string;
  /** Codes of findings that follow from this defect: they are not reported of the same subject beside it. */
  readonly implies?: readonly string[];
  /** Whether it is reported once of a subject: another episode shows the same defect. */
  readonly once?: boolean;
}

/** All codes of findings. docs/reference/checks.md is generated from this table, and a test compares both. */
export const FINDINGS = {
  ...PACKAGE_CODES,
  ...CONTRACT_CODES,
  ...OPTION_CODES,
  ...DETERMINISM_CODES,
  ...REWARD_CODES,
  ...DATA_CODES,
  ...LEAK_CODES,
  ...SERVICE_CODES,
  ...PROVISION_CODES,
} as const satisfies Readonly<Record<string, FindingEntry>>;

/** Stable code of a finding. */
export type FindingCode = keyof typeof FINDINGS;

export function entryOf(code: FindingCode): FindingEntry {
  return FINDINGS[code];
}

import { defined, MrlmError } from "@mrlm/spec";
import { ERROR_CODES } from "@mrlm/spec/host";
import type { Check } from "./check.ts";
import { entryOf, type FindingCode } from "./codes.ts";
import { Defect } from "./defect.ts";
import type { Finding } from "./finding.ts";

/** Reasons of the author for warnings that stay, by code. */
export type Acknowledgements = Readonly<Partial<Record<string, string>>>;

/** A finding, and the error that it is made of, whose stack leads to the author's code. */
export interface Found extends Finding {
  readonly error?: Error;
  readonly about?: string;
}

/** Runs one check on a subject, and returns what it found. */
export async function runCheck<Subject>(
  check: Check<Subject>,
  subject: Subject,
  about: { readonly subject: string; readonly acknowledged?: Acknowledgements | undefined },
  note?: (text: string) => void,
): Promise<Found[]> {
  let defects: readonly unknown[];
  try {
    defects = (await check.run(subject, note)) ?? [];
  } catch (error) {
    defects = [error];
  }
  return defects.map((error) => foundBy(check, error, about));
}

/** Describes anything that a check threw as a finding. */
export function foundBy(
  check: Pick<Check<never>, "code" | "name" | "about">,
  error: unknown,
  { subject, acknowledged = {} }: { readonly subject: string; readonly acknowledged?: Acknowledgements | undefined },
): Found {
  const defect = error instanceof Defect ? error : undefined;
  const code = defect?.code ?? codeOfHost(error) ?? check.code;
  const { severity, fix } = entryOf(code);
  const reason = severity === "warning" ? acknowledged[code] : undefined;
  const near = defect?.about ?? check.about;
  return {
    code,
    severity,
    subject,
    check: check.name,
    message: messageOf(error, code),
    fix: defect?.fix ?? ownHint(error) ?? fix,
    ...(defect?.place !== undefined && { place: defect.place }),
    ...defined({ acknowledged: reason, about: near }),
    ...(error instanceof Error && { error }),
  };
}

/** Returns the code of a failure of the environment that the host reports, whichever check played the episode. */
function codeOfHost(error: unknown): FindingCode | undefined {
  if (MrlmError.hasCode(error, "REQUIREMENT_MISSING")) return "REQUIREMENT_MISSING";
  if (!MrlmError.hasCode(error, "ENVIRONMENT_FAILED")) return undefined;
  return / threw in /.test(error.message) ? "EPISODE_FAILED" : "VALUE_MALFORMED";
}

/** Codes of findings that stand for an error of mrlm: the code of the error adds nothing. */
const FROM_ERRORS = new Set<FindingCode>([
  "API_VERSION",
  "EPISODE_FAILED",
  "IMPORT_FAILED",
  "MANIFEST_INVALID",
  "REQUIREMENT_MISSING",
  "VALUE_MALFORMED",
]);

function messageOf(error: unknown, code: FindingCode): string {
  if (MrlmError.isInstance(error)) return FROM_ERRORS.has(code) ? error.message : `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** Returns the hint of an error unless it is the general one of its code. */
function ownHint(error: unknown): string | undefined {
  // The hint about a missing requirement is for callers of a contract suite.
  if (MrlmError.hasCode(error, "REQUIREMENT_MISSING")) return undefined;
  return MrlmError.isInstance(error) && error.hint !== ERROR_CODES[error.code]?.hint ? error.hint : undefined;
}

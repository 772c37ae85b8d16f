import { bindChecks, type PartsOf } from "../check/plugin-part.ts";
import { environmentParts } from "./environment-parts.ts";
import { exampleChecks } from "./example-checks.ts";
import { packageChecks } from "./package-checks.ts";
import { provisionParts } from "./provision-parts.ts";

const packageParts: PartsOf = (subject) => {
  const acknowledged = Object.assign(
    {},
    subject.plugin.acknowledged,
    ...(subject.plugin.environments ?? []).map((each) => each.acknowledged),
  );
  return [
    { subject: "package", checks: bindChecks([...packageChecks, ...exampleChecks], async () => subject), acknowledged },
  ];
};

/** Parts of each kind, in the order in which `mrlm check` checks them. */
export const PART_KINDS: readonly PartsOf[] = [packageParts, environmentParts, provisionParts];

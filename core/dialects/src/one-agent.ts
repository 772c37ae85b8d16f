import { MrlmError } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";

/** Throws ROLES_UNSUPPORTED for an environment with several agents. @param protocol whose clients act for one */
export function requireOneAgent({ id, roles }: EnvironmentDescription, protocol: string): void {
  const names = Object.keys(roles);
  if (names.length > 1 || names.some((name) => roles[name]?.many === true))
    throw new MrlmError(
      "ROLES_UNSUPPORTED",
      `Environment ${id} has several agents (roles: ${names.join(", ")}), and a client of ${protocol} acts for one.`,
    );
}

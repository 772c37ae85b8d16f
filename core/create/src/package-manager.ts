/** Package managers whose commands are known. */
export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

/** Package manager of a project. */
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** Returns the package manager that started this process, by the variable that all of them set; npm without one. */
export function callingPackageManager(agent = process.env["npm_config_user_agent"] ?? ""): PackageManager {
  return PACKAGE_MANAGERS.find((name) => agent.startsWith(`${name}/`)) ?? "npm";
}

/** Returns the command that runs a script of package.json. */
export function scriptCommand(manager: PackageManager, script: string): string {
  if (manager === "npm") return script === "test" ? "npm test" : `npm run ${script}`;
  return manager === "bun" ? `bun run ${script}` : `${manager} ${script}`;
}

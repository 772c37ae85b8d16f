import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PluginHost } from "@mrlm/runtime";
import type { WorkerPool } from "@mrlm/server";
import type { Logger } from "@mrlm/spec";

/** Interval in which the packages of plugins are compared. */
const CHECK_MS = 1_000;

/**
 * Replaces the workers when the process gets SIGHUP, and when the package of a plugin has changed and remains as it is for a second. A version that fails its check is reported and
 * not activated.
 * @param drainMs time for the sessions of the old workers
 * @param onReloaded called when new sessions go to the new versions
 * @returns a function that ends the watch
 */
export function reloadWorkers(
  workers: WorkerPool,
  {
    plugins,
    drainMs,
    logger,
    onReloaded,
  }: {
    readonly plugins: PluginHost;
    readonly drainMs: number;
    readonly logger: Logger;
    readonly onReloaded: (environments: readonly string[]) => void;
  },
): () => void {
  // Services are those of this process: a new version of their packages cannot be loaded.
  const hosts = plugins.registry.entries.filter(({ provides }) => provides.some((id) => id.startsWith("environment:")));
  const directories = [...new Set(hosts.flatMap(({ directory }) => directory ?? []))];
  const look = (): string => directories.map(stateOf).join("\n");
  let active = look();
  let seen = active;
  let isReloading = false;
  let isRequested = false;
  let isEnded = false;
  const reload = async (): Promise<void> => {
    isRequested = true;
    if (isReloading) return;
    isReloading = true;
    while (isRequested) {
      isRequested = false;
      active = look();
      try {
        const environments = await workers.reload(drainMs);
        if (isEnded) return;
        const versions = environments.map(
          ({ id, providedBy }) => `${id} of ${providedBy?.name} ${providedBy?.version}`,
        );
        logger.info(`New sessions use the present versions: ${versions.join(", ")}.`);
        onReloaded(environments.map(({ id }) => id));
      } catch (error) {
        // The server stops, and ends the new workers too.
        if (isEnded) return;
        logger.error(`The present versions of the plugins were not activated: ${(error as Error).message}`, {
          hint: "The sessions use the versions before. Correct the plugin; its change, or SIGHUP, tries again.",
        });
      }
    }
    isReloading = false;
  };
  const onHangUp = (): void => void reload();
  process.on("SIGHUP", onHangUp);
  const timer = setInterval(() => {
    const now = look();
    // An installation writes for a while.
    if (now !== active && now === seen) void reload();
    seen = now;
  }, CHECK_MS).unref();
  return () => {
    isEnded = true;
    process.off("SIGHUP", onHangUp);
    clearInterval(timer);
  };
}

/** Returns a text that changes with the manifest or the entry of a package. */
function stateOf(directory: string): string {
  try {
    const manifest = readFileSync(join(directory, "package.json"), "utf8");
    const { mrlm } = JSON.parse(manifest) as { readonly mrlm?: { readonly entry?: string } };
    const { mtimeMs, size } = statSync(join(directory, mrlm?.entry ?? "package.json"));
    return `${manifest} ${mtimeMs} ${size}`;
  } catch {
    // It is being replaced.
    return "";
  }
}

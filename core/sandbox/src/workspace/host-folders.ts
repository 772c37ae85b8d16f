import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { systemMount } from "../jail/bubblewrap.ts";

/** System folders of the host in a workspace without an image. */
const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** Names of the root folder that programs see as those of the host. */
export const HOST_NAMES: ReadonlySet<string> = new Set([...PROGRAMS.map((path) => path.slice(1)), "etc"]);
/** Settings that hold no secrets. */
const SETTINGS = [
  ...["/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"],
  ...["/etc/ssl/certs", "/etc/mime.types", "/etc/perl", "/etc/python3", "/etc/fonts"],
];
/** Own settings, which name no user and no machine of the host. */
const OWN_SETTINGS = {
  passwd: "root:x:0:0:root:/root:/bin/sh\n",
  group: "root:x:0:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
};

/**
 * Returns the arguments of bubblewrap for the host's system folders, read-only.
 * @param folder to which settings are copied, because each mount costs the start of a command half a millisecond
 */
export function hostFolders(folder: string): string[] {
  const etc = join(folder, "etc");
  mkdirSync(etc);
  for (const path of SETTINGS.filter((each) => existsSync(each)))
    cpSync(path, join(etc, relative("/etc", path)), { recursive: true, verbatimSymlinks: true, dereference: false });
  for (const [name, text] of Object.entries(OWN_SETTINGS)) writeFileSync(join(etc, name), text);
  return [...PROGRAMS.flatMap(systemMount), "--ro-bind", etc, "/etc"];
}

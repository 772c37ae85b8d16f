import { hash128 } from "@mrlm/kit/service";

const MAX_LENGTH = 64;

/** Tool of a server, by the server's names. */
export interface ToolOfServer {
  readonly server: string;
  readonly tool: string;
}

/**
 * Returns the names that policies see: `SERVER__TOOL`. Other characters than letters, digits, _ and - become _. A name that is too long, or that another
 * tool has as well, ends with a hash of the original instead. The order of servers and tools does not matter. A
 * server that lists two tools under one name does not start.
 */
export function toolNames(tools: readonly ToolOfServer[]): string[] {
  const plain = tools.map(({ server, tool }) => `${server}__${tool}`);
  const valid = plain.map((name) => name.replace(/[^A-Za-z0-9_-]/g, "_"));
  // A separator that no name contains: ("a", "b__c") and ("a__b", "c") differ.
  const originals = tools.map(({ server, tool }) => `${server}\0${tool}`);
  const sharing = new Map<string, Set<string>>();
  for (const [i, name] of valid.entries()) {
    const others = sharing.get(name) ?? new Set();
    sharing.set(name, others.add(originals[i] as string));
  }
  return valid.map((name, i) => {
    if (name.length <= MAX_LENGTH && sharing.get(name)?.size === 1) return name;
    const [high, low] = hash128(originals[i] as string);
    const hash = `${high.toString(36)}${low.toString(36)}`.padStart(8, "0").slice(0, 8);
    return `${name.slice(0, MAX_LENGTH - 9)}_${hash}`;
  });
}

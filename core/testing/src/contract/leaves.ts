/** Returns the texts and numbers of a value as texts, by their path: `world.rooms[0].name`. */
export function leavesOf(value: unknown, path = ""): Map<string, string> {
  const leaves = new Map<string, string>();
  const visit = (part: unknown, at: string): void => {
    if (typeof part === "string" || typeof part === "number") leaves.set(at, String(part));
    if (typeof part !== "object" || part === null || part instanceof Uint8Array) return;
    for (const [key, member] of Object.entries(part))
      visit(member, Array.isArray(part) ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`);
  };
  visit(value, path);
  return leaves;
}

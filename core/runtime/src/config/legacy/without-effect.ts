import { z } from "zod";
import { ownMember } from "../../names/own-member.ts";
import { schemaNodesAt } from "../../plugins/schema-keys.ts";
import type { ConfigPath } from "../source-text.ts";

/** Creates the schema of a legacy key that is accepted and has no effect. Loading a configuration with it reports the reason. */
export function withoutEffect(reason: string): z.ZodOptional<z.ZodUnknown> {
  return z
    .unknown()
    .optional()
    .meta({ withoutEffect: reason, description: `Accepted, without effect: ${reason}.` });
}

/** Returns the reason why a key has no effect; `undefined` if it has one. */
export function reasonWithoutEffect(schema: z.ZodType, path: ConfigPath): string | undefined {
  return schemaNodesAt(schema, path.slice(0, -1))
    .map((node) => ownMember(node.def.shape, String(path.at(-1)))?.meta?.()?.["withoutEffect"] as string | undefined)
    .find((reason) => reason !== undefined);
}

/** Returns the keys of a configuration that are set and have no effect, with the reasons. */
export function keysWithoutEffect(
  schema: z.ZodType,
  config: unknown,
): { readonly path: ConfigPath; readonly reason: string }[] {
  const found: { path: ConfigPath; reason: string }[] = [];
  const visit = (value: unknown, path: ConfigPath): void => {
    const reason = path.length > 0 ? reasonWithoutEffect(schema, path) : undefined;
    if (reason !== undefined && value !== null && value !== false && value !== undefined) found.push({ path, reason });
    else if (Array.isArray(value)) value.forEach((item, i) => visit(item, [...path, i]));
    else if (typeof value === "object" && value !== null)
      for (const [key, member] of Object.entries(value)) visit(member, [...path, key]);
  };
  visit(config, []);
  return found;
}

import type { z } from "zod";
import { ownMember } from "../names/own-member.ts";

type Path = readonly (string | number)[];

/** zod's own account of a schema, as far as it is needed to walk it. */
interface SchemaNode {
  readonly def: {
    readonly type: string;
    readonly innerType?: SchemaNode;
    readonly shape?: Readonly<Record<string, SchemaNode>>;
    readonly element?: SchemaNode;
    readonly valueType?: SchemaNode;
    readonly keyType?: { readonly def: { readonly entries?: Readonly<Record<string, string>> } };
    readonly in?: SchemaNode;
    readonly out?: SchemaNode;
    readonly options?: readonly SchemaNode[];
    readonly catchall?: SchemaNode;
  };
  meta?(): { readonly withoutEffect?: string } | undefined;
}

/** Keys that a schema knows at a path; none where it has no object there. */
export function knownKeys(schema: z.ZodType, path: Path): string[] {
  return nodesAt([schema as unknown as SchemaNode], path).flatMap((node) =>
    Object.keys(node.def.shape ?? node.def.keyType?.def.entries ?? {}),
  );
}

/** Why a key of a configuration has no effect; `undefined` when it has one. */
export function reasonWithoutEffect(schema: z.ZodType, path: Path): string | undefined {
  const parents = nodesAt([schema as unknown as SchemaNode], path.slice(0, -1));
  const key = String(path.at(-1));
  return parents
    .map((node) => ownMember(node.def.shape, key)?.meta?.()?.withoutEffect)
    .find((reason) => reason !== undefined);
}

function nodesAt(start: readonly SchemaNode[], path: Path): SchemaNode[] {
  let nodes = start.flatMap(unwrap);
  for (const segment of path) {
    nodes = nodes.flatMap((node) => {
      const next =
        typeof segment === "number" ? node.def.element : (ownMember(node.def.shape, segment) ?? node.def.valueType);
      return next === undefined ? [] : unwrap(next);
    });
  }
  return nodes;
}

function unwrap(node: SchemaNode): SchemaNode[] {
  if (node.def.type === "pipe")
    return [node.def.in, node.def.out].flatMap((part) => (part === undefined ? [] : unwrap(part)));
  if (node.def.options !== undefined) return node.def.options.flatMap(unwrap);
  return node.def.innerType === undefined ? [node] : unwrap(node.def.innerType);
}

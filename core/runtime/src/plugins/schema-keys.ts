import type { z } from "zod";
import { ownMember } from "../names/own-member.ts";

type Path = readonly (string | number)[];

/** The part of zod's description of a schema that is needed to traverse it. */
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
  meta?(): Readonly<Record<string, unknown>> | undefined;
}

/** Returns the keys that a schema allows at a path; none if it allows no object there. */
export function knownKeys(schema: z.ZodType, path: Path): string[] {
  const keys = schemaNodesAt(schema, path).flatMap((node) =>
    Object.keys(node.def.shape ?? node.def.keyType?.def.entries ?? {}),
  );
  return [...new Set(keys)];
}

/** Returns the objects that a schema allows at a path. */
export function schemaNodesAt(schema: z.ZodType, path: Path): SchemaNode[] {
  let nodes = unwrap(schema as unknown as SchemaNode);
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

import type { Dialect, DialectContext } from "./dialect.ts";
import { McpDialect } from "./mcp/mcp-dialect.ts";

const DIALECTS = {
  mcp: (context) => new McpDialect(context),
} as const satisfies Readonly<Record<string, (context: DialectContext) => Dialect>>;

/** Name of a dialect: `mcp`. */
export type DialectName = keyof typeof DIALECTS;

/** Names of all dialects. */
export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[];

/** Makes a dialect. */
export function openDialect(name: DialectName, context: DialectContext): Dialect {
  return DIALECTS[name](context);
}

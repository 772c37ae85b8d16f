import type { Dialect, DialectContext } from "./dialect.ts";
import { McpDialect } from "./mcp/mcp-dialect.ts";
import { NemoGymDialect } from "./nemo-gym/nemo-gym-dialect.ts";
import { OpenEnvDialect } from "./openenv/openenv-dialect.ts";
import { OrsDialect } from "./ors/ors-dialect.ts";
import { SandboxFusionDialect } from "./sandbox-fusion/sandbox-fusion-dialect.ts";

const DIALECTS = {
  mcp: (context) => new McpDialect(context),
  openenv: (context) => new OpenEnvDialect(context),
  "nemo-gym": (context) => new NemoGymDialect(context),
  ors: (context) => new OrsDialect(context),
  "sandbox-fusion": (context) => new SandboxFusionDialect(context),
} as const satisfies Readonly<Record<string, (context: DialectContext) => Dialect>>;

/** Name of a dialect: `mcp`, `openenv`, `nemo-gym`, `ors`, `sandbox-fusion`. */
export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[];

/** Makes a dialect. */
export function openDialect(name: DialectName, context: DialectContext): Dialect {
  return DIALECTS[name](context);
}

import { z } from "zod";

/** A key of the seed system's YAML that is accepted and does nothing here; the reason is told when the config is loaded. */
export function withoutEffect(reason: string): z.ZodOptional<z.ZodUnknown> {
  return z
    .unknown()
    .optional()
    .meta({ withoutEffect: reason, description: `Accepted, without effect: ${reason}.` });
}

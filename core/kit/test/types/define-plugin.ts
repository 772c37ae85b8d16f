// Types of plugins. `tsc --build` compiles this file; nothing runs it.
import type { PluginContext, Scorer } from "@mrlm/spec";
import { z } from "zod";
import { definePlugin } from "../../src/index.ts";

declare const context: PluginContext;
declare const scorer: Scorer;

const options = z.strictObject({ tolerance: z.number().default(0) }).prefault({});

const plugin = definePlugin({
  name: "example",
  options,
  scorers: {
    "number@1": (_context, given) => {
      const tolerance: number = given.tolerance;
      // @ts-expect-error the schema has no such option
      given.tolerances satisfies number;
      return tolerance >= 0 ? scorer : scorer;
    },
  },
});

void plugin.scorers["number@1"](context, { tolerance: 0.1 });

// @ts-expect-error an option of another type
void plugin.scorers["number@1"](context, { tolerance: "0.1" });

// @ts-expect-error an id that the plugin does not provide
void plugin.scorers["numbers@1"](context, { tolerance: 0.1 });

// @ts-expect-error a kind that the plugin does not provide
void plugin.judges["number@1"];

// @ts-expect-error a factory of another kind
definePlugin({ name: "wrong", scorers: { "number@1": () => ({ judge: async () => undefined }) } });

// @ts-expect-error a plugin without a name
definePlugin({ options });

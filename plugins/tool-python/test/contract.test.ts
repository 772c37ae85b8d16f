import type { Plugin } from "@mrlm/kit";
import { pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";

// By a name in a variable, because no plugin imports another.
const sandboxes: string = "@mrlm/sandbox-python";
pluginContract({ plugins: [plugin, ((await import(sandboxes)) as { readonly default: Plugin }).default] });

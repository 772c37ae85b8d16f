import { describe } from "@jest/globals";
import { PluginHost } from "@mrlm/runtime";
import { ROOT } from "./mrlm.ts";

const plugins = await PluginHost.discover({ directory: ROOT });
const provider = await plugins.engine("torch");

/** Installation of the engine; `undefined` where it is not installed. Tests do not install it. */
export const installed = await provider.locate();

/** `describe` for tests that need the engine; their names state it, and they are skipped where `npm run setup` has not installed it. */
export const describeWithEngine = installed === undefined ? describe.skip : describe;

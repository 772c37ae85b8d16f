import { describe } from "@jest/globals";
import { PluginHost } from "@mrlm/runtime";
import { ROOT } from "./mrlm.ts";

const plugins = await PluginHost.discover({ directory: ROOT });
const provider = await plugins.engine("torch");

/** Where the engine is installed; `undefined` where it is not. A test installs nothing of that size by itself. */
export const installed = await provider.locate();

/** `describe` for tests that need the engine; their names say so, and they are skipped where `npm run setup` has not installed it. */
export const describeWithEngine = installed === undefined ? describe.skip : describe;

import { definePlugin } from "@mrlm/kit";
import type { LauncherDefinition } from "@mrlm/spec/host";
import { openDriver } from "./driver.ts";
import { type Options, options } from "./options.ts";
import { RayLauncher } from "./ray-launcher.ts";

/** `ray`: processes on the machines of a cluster of Ray. */
const ray: LauncherDefinition<Options> = {
  name: "ray",
  description: "Processes on the machines of a cluster of Ray.",
  options,
  create: async (chosen) => new RayLauncher(await openDriver(chosen)),
};

export default definePlugin({ name: "@mrlm/launcher-ray", launchers: [ray] });

import { definePlugin } from "@mrlm/kit";
import type { LauncherDefinition } from "@mrlm/spec/host";
import { LocalLauncher } from "./local-launcher.ts";
import { type Options, options } from "./options.ts";

/** `local`: processes on this machine. */
const local: LauncherDefinition<Options> = {
  name: "local",
  description: "Processes on this machine.",
  options,
  create: ({ gpus }) => new LocalLauncher(gpus),
};

export default definePlugin({ name: "@mrlm/launcher-local", launchers: [local] });

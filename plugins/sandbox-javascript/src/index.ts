/** JavaScript and TypeScript that a model wrote, in isolated-vm inside a supervised child process. */
import { definePlugin } from "@mrlm/kit";
import { PooledSandbox } from "@mrlm/sandbox";
import { isolatedVmBackend } from "./backend.ts";

export default definePlugin({
  name: "@mrlm/sandbox-javascript",
  sandboxes: { javascript: () => new PooledSandbox({ backend: isolatedVmBackend }) },
});

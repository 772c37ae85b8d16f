/** Sandbox for JavaScript and TypeScript: isolated-vm inside supervised child processes. */
import { definePlugin } from "@mrlm/kit";
import { limitsOf, sandboxOptions } from "@mrlm/kit/options";
import { PooledSandbox } from "@mrlm/sandbox";
import { z } from "zod";
import { isolatedVmBackend } from "./backend.ts";

const options = z.strictObject(sandboxOptions).prefault({});

export default definePlugin({
  name: "@mrlm/sandbox-javascript",
  options,
  sandboxes: {
    javascript: (_context, { sessions, session_queue, session_wait_ms, limits, ...pool }) =>
      new PooledSandbox({
        backend: isolatedVmBackend,
        limits: limitsOf(limits),
        pool,
        sessions,
        sessionQueue: session_queue,
        sessionWaitMs: session_wait_ms,
      }),
  },
});

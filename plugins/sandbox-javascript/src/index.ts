/** JavaScript and TypeScript that a model wrote, in isolated-vm inside a supervised child process. */
import { definePlugin } from "@mrlm/kit";
import { PooledSandbox } from "@mrlm/sandbox";
import { z } from "zod";
import { isolatedVmBackend } from "./backend.ts";

const options = z
  .strictObject({
    /** Child processes that run submissions at the same time. */
    children: z.int().positive().default(2),
    /** Submissions that may wait for one. */
    queue: z.int().nonnegative().default(1024),
    /** Sessions that may be open at the same time. */
    sessions: z.int().positive().default(16),
  })
  .prefault({});

export default definePlugin({
  name: "@mrlm/sandbox-javascript",
  options,
  sandboxes: {
    javascript: (_context, { sessions, ...pool }) => new PooledSandbox({ backend: isolatedVmBackend, pool, sessions }),
  },
});

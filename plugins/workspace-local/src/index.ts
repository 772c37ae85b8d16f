/** Workspaces on this machine: `workspace:linux`, with bubblewrap and user namespaces. */
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { cacheDirectory } from "@mrlm/kit/service";
import { workspaceLimits, workspaceLimitsOf } from "@mrlm/kit/options";
import { LocalWorkspaces, TAKEN_NAMES } from "@mrlm/sandbox";
import { z } from "zod";
import { imageFolder } from "./image-folder.ts";
import { shownFolder } from "./shown-folder.ts";

const options = z
  .strictObject({
    workspaces: z.int().positive().default(256).describe("Workspaces that may be open at the same time"),
    queue: z.int().nonnegative().default(1024).describe("Calls that may wait for one"),
    wait_ms: z.int().positive().default(600_000).describe("Longest wait for one"),
    warm: z.int().nonnegative().default(0).describe("Workspaces that are made before they are asked for"),
    images: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9._:/-]*$/, "must be a name such as debian:12"), z.string().min(1))
      .default({})
      .describe("File systems by name: the root folder, or a tarball of one"),
    folders: z
      .record(
        z
          .string()
          .regex(/^\/[A-Za-z0-9][\w.-]*$/, "must be a name below /, such as /programs")
          .refine((path) => !TAKEN_NAMES.has(path.slice(1)), "is a folder that workspaces have already"),
        z.string().min(1),
      )
      .default({})
      .describe("Folders of this machine that all workspaces show, read-only: programs that are too large to copy"),
    limits: workspaceLimits.prefault({}).describe("Of a workspace that brings none"),
  })
  .prefault({});

export default definePlugin({
  name: "@mrlm/workspace-local",
  options,
  workspaces: {
    linux: ({ dataPath }, { workspaces, queue, wait_ms, warm, images, folders, limits }) =>
      LocalWorkspaces.make({
        ...{ count: workspaces, queue, waitMs: wait_ms, warm, limits: workspaceLimitsOf(limits) },
        kept: join(cacheDirectory(), "snapshots"),
        images: Object.fromEntries(
          Object.entries(images).map(([name, path]) => [name, () => imageFolder(name, dataPath(path))]),
        ),
        folders: Object.fromEntries(
          Object.entries(folders).map(([name, path]) => [name.slice(1), shownFolder(name, dataPath(path))]),
        ),
      }),
  },
});

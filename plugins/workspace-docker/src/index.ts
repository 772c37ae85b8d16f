/** Workspaces in containers of Docker or Podman: `workspace:linux`, over the socket of the engine. */
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { workspaceLimits, workspaceLimitsOf } from "@mrlm/kit/options";
import { cacheDirectory } from "@mrlm/kit/service";
import { z } from "zod";
import { DockerWorkspaces } from "./docker-workspaces.ts";

const options = z
  .strictObject({
    socket: z
      .string()
      .min(1)
      .optional()
      .describe("Socket of the engine; default: DOCKER_HOST, else the usual paths of Docker and Podman"),
    image: z.string().min(1).default("debian:12").describe("Image of a workspace that names none"),
    folders: z
      .array(z.string().regex(/^[\w-][\w.-]*$/, "must be a name of the root folder"))
      .default(["home", "logs", "mnt", "opt", "solution", "srv", "tests"])
      .describe("Folders of the root that programs may write to, where the image has nothing there"),
    workspaces: z.int().positive().default(64).describe("Workspaces that may be open at the same time"),
    queue: z.int().nonnegative().default(1024).describe("Calls that may wait for one"),
    wait_ms: z.int().positive().default(600_000).describe("Longest wait for one"),
    warm: z
      .int()
      .nonnegative()
      .default(0)
      .describe("Containers of the default image that are started before they are asked for"),
    limits: workspaceLimits.prefault({}).describe("Of a workspace that brings none"),
  })
  .prefault({});

export default definePlugin({
  name: "@mrlm/workspace-docker",
  options,
  workspaces: {
    linux: ({ dataPath }, { socket, image, folders, workspaces, queue, wait_ms, warm, limits }) =>
      DockerWorkspaces.make({
        socket: socket === undefined ? undefined : dataPath(socket),
        ...{ image, folders, count: workspaces, queue, waitMs: wait_ms, warm, limits: workspaceLimitsOf(limits) },
        kept: join(cacheDirectory(), "snapshots"),
      }),
  },
});

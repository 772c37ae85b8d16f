import { z } from "zod";

/** Body of `POST /create_session`. Other programs set variables of a container by `env`; there is none here. */
export const createSessionRequest = z
  .strictObject({ env: z.record(z.string(), z.string()).nullish() })
  .refine(({ env }) => Object.keys(env ?? {}).length === 0, { error: "this server sets no variables (env)" });

const index = z.int();

/** Task as the catalogue states it, with an optional seed. */
export const taskSpec = z.strictObject({
  id: z.string().nullish(),
  split: z.string(),
  index,
  seed: z.int().nullish(),
});

/** Body of `POST /create`. */
export const createRequest = z
  .strictObject({
    env_name: z.string().nullish(),
    task_spec: taskSpec.nullish(),
    split: z.string().nullish(),
    index: index.nullish(),
    toolset_name: z.null().optional(),
  })
  .transform(({ env_name: environment, task_spec: spec, split, index: at }, context) => {
    const named = typeof split === "string" && typeof at === "number" ? { split, index: at } : undefined;
    const given = [spec, split, at].filter((part) => part !== undefined && part !== null).length;
    const task = spec ?? named;
    if (task === undefined || given !== (task === spec ? 1 : 2)) {
      context.addIssue({ code: "custom", message: "give either task_spec, or split and index" });
      return z.NEVER;
    }
    return {
      environment: environment ?? undefined,
      seed: spec?.seed ?? undefined,
      split: task.split,
      index: task.index,
    };
  });

/** Body of `POST /call`. */
export const callRequest = z.strictObject({
  name: z.string().min(1).max(256),
  input: z.record(z.string(), z.json()),
  task_id: z.string().max(128).nullish(),
});

import type { TaskId } from "@mrlm/spec";
import { z } from "zod";

/** Accepts null, which clients send for fields that they leave out. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Item of the input or output of OpenAI's Responses API, whose codec reads the content. */
const item = z.looseObject({
  type: optional(z.string()),
  role: optional(z.string()),
  content: z.unknown().optional(),
  call_id: optional(z.string()),
  name: optional(z.string()),
  arguments: optional(z.string()),
});

const taskId = z
  .string()
  .regex(/^.+\/\d+$/, "use SPLIT/INDEX, as in train/3")
  .transform((id) => id as TaskId);

const choice = {
  task: optional(taskId),
  seed: optional(z.int()),
  options: optional(z.record(z.string(), z.json())),
  /** Hash of the prompt and the tools, in rows of this server. */
  mrlm: optional(z.looseObject({ prompt: optional(z.string()) })),
};

const params = z.looseObject({ input: optional(z.union([z.string(), z.array(item)])) });

/** Row of a data set: the body of `/seed_session`, `/reset` and, with a response, of `/verify` and `/step`. */
export const row = z.looseObject({ responses_create_params: params, ...choice });

/** Choice of an episode by a row. */
export type Choice = z.output<typeof namedSeed>["task_data"];

/** Body of `/seed_session` by which an environment server of NeMo Gym names the session itself. Its task is in `task_data`. */
export const namedSeed = z.looseObject({
  resources_session_id: z.string().min(1).max(128),
  task_data: z.looseObject({ responses_create_params: optional(params), ...choice }),
});

/** Response of a model: its whole rollout in `/verify`, its latest turn in `/step`. */
export const response = z.looseObject({
  output: z.array(item),
  incomplete_details: optional(z.looseObject({ reason: z.string().nullish() })),
});

export type Response = z.output<typeof response>;

/** Body of `/verify` and `/step`. */
export const rowWithResponse = z.looseObject({
  responses_create_params: params,
  response,
  _ng_step_request_id: optional(z.string().max(128)),
});

/** Body of `/close_session`. */
export const closeRequest = z.looseObject({ resources_session_id: z.string().min(1).max(128) });

/** Body of `/aggregate_metrics`. */
export const metricsRequest = z.looseObject({
  verify_responses: z.array(z.looseObject({ mask_sample: optional(z.boolean()) })),
});

export const toolArguments = z.record(z.string(), z.json());

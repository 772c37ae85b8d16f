import { z } from "zod";

/** Longest run that a request may ask for, in seconds. */
const MAX_RUN_SECONDS = 120;
/** Largest memory that a request may ask for, in MB. */
const MAX_MEMORY_MB = 1024;
const MAX_FILES = 256;

/** Path of a file below the working directory. */
const relativePath = z
  .string()
  .min(1)
  .max(512)
  .refine(
    (path) =>
      !path.startsWith("/") &&
      !path.includes("\0") &&
      path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    { error: "the path must be relative, without the parts . and .." },
  );

const base64 = z
  .string()
  .refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), { error: "the text is not base64" });

const seconds = z.number().positive().max(MAX_RUN_SECONDS);

/** Body of `POST /run_code`. Keys that the protocol does not have are ignored, as its server does. */
export const runCodeRequest = z.object({
  code: z.string(),
  language: z.string().min(1).max(64),
  /** No language here is compiled. */
  compile_timeout: z.number().positive().nullish(),
  run_timeout: seconds.nullish().transform((value) => value ?? 10),
  stdin: z.string().nullish(),
  files: z
    .record(relativePath, base64.nullable())
    .refine((files) => Object.keys(files).length <= MAX_FILES, { error: `at most ${MAX_FILES} files are accepted` })
    .nullish(),
  fetch_files: z.array(relativePath).max(MAX_FILES).nullish(),
  /** An addition of verl. A value of 0 or less is the default. */
  memory_limit_MB: z.number().max(MAX_MEMORY_MB).nullish(),
});

/** Request of `POST /run_code` with its defaults. */
export type RunCodeRequest = z.infer<typeof runCodeRequest>;

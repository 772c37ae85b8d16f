import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { packageDirectory } from "../package-directory.ts";

/** pip is part of this package, so neither the machine's pip nor ensurepip is needed. */
const WHEEL = "pip-26.3-py3-none-any.whl";
const SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13";

/** Returns the path of the vendored wheel after a check of its SHA-256. @throws SETUP_FAILED for another checksum. */
export function pipWheel(path: string = join(packageDirectory(), "vendor", WHEEL)): string {
  const actual = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (actual === SHA256) return path;
  throw new MrlmError("SETUP_FAILED", `${path} is damaged: its SHA-256 is ${actual}, not ${SHA256}.`, {
    hint: "Install @mrlm/engine-torch again (`npm ci`).",
  });
}

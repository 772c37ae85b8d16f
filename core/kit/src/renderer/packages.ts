import { createRequire } from "node:module";
import type * as Jinja from "@huggingface/jinja";
import type * as Tokenizers from "@huggingface/tokenizers";
import { MrlmError } from "@mrlm/spec";

const require = createRequire(import.meta.url);

/**
 * Packages that the renderer uses. They are optional peer dependencies of `@mrlm/kit`, because environments need no tokenizer. The import of this module
 * raises DEPENDENCY_MISSING if they are not installed.
 */
export const { Template } = installed<typeof Jinja>("@huggingface/jinja");
export const { Tokenizer } = installed<typeof Tokenizers>("@huggingface/tokenizers");

/** Loads a package without a top-level await, for which jest compiles the modules that import this one several times. */
function installed<Module>(name: string): Module {
  try {
    return require(name) as Module;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw cause;
    throw new MrlmError(
      "DEPENDENCY_MISSING",
      `@mrlm/kit/renderer uses the package ${name}, which is not installed.`,
      // Versions of package.json; npm refuses others.
      { hint: "Run `npm install @huggingface/jinja@0.5.11 @huggingface/tokenizers@0.2.0`.", cause },
    );
  }
}

import { MrlmError } from "@mrlm/spec";

/**
 * Packages that the renderer uses. They are optional peer dependencies of `@mrlm/kit`, because environments need no tokenizer. The import of this module
 * raises DEPENDENCY_MISSING if they are not installed.
 */
export const { Template } = await installed("@huggingface/jinja", import("@huggingface/jinja"));
export const { Tokenizer } = await installed("@huggingface/tokenizers", import("@huggingface/tokenizers"));

async function installed<Module>(name: string, imported: Promise<Module>): Promise<Module> {
  try {
    return await imported;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new MrlmError(
      "DEPENDENCY_MISSING",
      `@mrlm/kit/renderer uses the package ${name}, which is not installed.`,
      // Versions of package.json; npm refuses others.
      { hint: "Run `npm install @huggingface/jinja@0.5.11 @huggingface/tokenizers@0.2.0`.", cause },
    );
  }
}

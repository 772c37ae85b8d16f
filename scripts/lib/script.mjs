/** Error that ends a script for a known reason: its message is printed without a stack. */
export class ScriptError extends Error {
  /** @param {string} message @param {number} [exitCode] of the process */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a script's main function; prints its error and sets the exit code.
 * @param {() => Promise<number | void>} main may answer an exit code
 */
export async function script(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(error instanceof ScriptError ? error.message : error);
    process.exitCode = error instanceof ScriptError ? error.exitCode : 1;
  }
}

/** What ends a script for a known reason: the message says all there is to say. */
export class ScriptError extends Error {
  /** @param {string} message @param {number} [exitCode] what the process exits with */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a script's main function, and turns what it throws into a message and an exit code.
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

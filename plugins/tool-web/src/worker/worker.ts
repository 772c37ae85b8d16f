/** Worker thread that parses what servers send. It has no environment variables, and its memory and time are limited by the pool. */
import { parentPort } from "node:worker_threads";
import robotsParser from "robots-parser";
import { convertPage } from "../page/convert-page.ts";
import { type JobMessage, type JobResult, READY } from "./jobs.ts";

/** Default export of the package at run time. Its declarations describe an ES module, which it is not. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default;

/** Decodes escapes of characters that need none, in rules and URLs, so that `/%61` and `/a` compare equal (RFC 9309, section 2.2.2). */
const plainEscapes = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });

function run(job: JobMessage): JobResult {
  try {
    if (job.name === "convert") return { output: convertPage(job.input) };
    const { file, text, page, userAgent } = job.input;
    return { output: parseRobots(file, plainEscapes(text)).isAllowed(plainEscapes(page), userAgent) ?? true };
  } catch (error) {
    return { error: String(error) };
  }
}

parentPort?.on("message", (job: JobMessage) => parentPort?.postMessage(run(job)));
parentPort?.postMessage(READY);

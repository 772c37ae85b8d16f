// Runs a test file as a native module: Node strips the types, and the files of one worker share the modules that they import. jest's own runner links and
// evaluates each module again for each file, which took a third of the CPU time of the whole suite.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { createEmptyTestResult } from "@jest/test-result";
import { addEventHandler, getState, resetState, run } from "jest-circus";
import { formatResultsErrors } from "jest-message-util";
import * as globals from "./jest-globals.mjs";

const { expect, jest } = globals;

const REPLACED = new Map([
  ["@jest/globals", new URL("jest-globals.mjs", import.meta.url).href],
  ["fast-check", new URL("../fast-check.mjs", import.meta.url).href],
]);

// Contract suites register their tests by these.
Object.assign(globalThis, globals);

registerHooks({
  resolve(specifier, context, next) {
    const url = REPLACED.get(specifier);
    if (url !== undefined) return { url, shortCircuit: true };
    return next(specifier, { ...context, conditions: ["mrlm-source", ...context.conditions] });
  },
});

// jest-circus collects rejections that nothing handled, and leaves it to its caller to report them.
addEventHandler((/** @type {any} */ { name }, /** @type {any} */ state) => {
  if (name !== "run_finish") return;
  state.unhandledErrors.push(...state.unhandledRejectionErrorByPromise.values());
  addRejections(state.rootDescribeBlock, state);
});

/** Adds the rejections of tests to their errors, and those of hooks to the errors of the file. */
function addRejections(/** @type {any} */ { hooks, children }, /** @type {any} */ state) {
  for (const hook of hooks)
    state.unhandledErrors.push(...(state.unhandledRejectionErrorByPromiseByHook.get(hook)?.values() ?? []));
  for (const child of children)
    if (child.type === "describeBlock") addRejections(child, state);
    else child.errors.push(...child.unhandledRejectionErrorByPromise.values());
}

/**
 * A `testRunner` of jest.
 * @param {any} globalConfig @param {any} config @param {any} _environment @param {any} _runtime @param {string} testPath
 */
export default async function runTestFile(globalConfig, config, _environment, _runtime, testPath) {
  const variables = { ...process.env };
  resetState();
  jest.setTimeout(config.testTimeout);
  expect.setState({ testPath, expand: globalConfig.expand });
  await dispatch({ name: "setup", parentProcess: process, testNamePattern: globalConfig.testNamePattern });
  try {
    await load(testPath);
    const { testResults, unhandledErrors } = await run();
    return resultOf(testResults.map(reportOf), unhandledErrors, { globalConfig, config, testPath });
  } finally {
    await dispatch({ name: "teardown" });
    jest.useRealTimers();
    jest.restoreAllMocks();
    restoreVariables(variables);
  }
}

/**
 * Evaluates a test file, which registers its tests and hooks, directly or by functions that it calls. The files of a worker share the modules that they import: what a
 * module registers while it is evaluated, only the first of these files would have.
 * @param {string} testPath
 */
async function load(testPath) {
  const file = pathToFileURL(testPath).href;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  await import(file);
  Error.stackTraceLimit = stackTraceLimit;
  for (const { type, asyncError } of registered(getState().rootDescribeBlock))
    if (!asyncError.stack.includes(file))
      throw new Error(
        `A module registers a ${type} while it is evaluated. Let it export a function that test files call.\n${asyncError.stack}`,
      );
}

/** @param {any} block of jest-circus @returns {any[]} its tests and hooks */
function registered(block) {
  if (block.type === "test") return [block];
  return [...block.hooks, ...block.children.flatMap(registered)];
}

/** Events that jest-circus expects of its runner; it exports no function for them. */
async function dispatch(/** @type {any} */ event) {
  /** @type {Record<symbol, any>} */
  const shared = globalThis;
  for (const handle of shared[Symbol.for("EVENT_HANDLERS")]) await handle(event, getState());
}

/** @param {NodeJS.ProcessEnv} before */
function restoreVariables(before) {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
}

/** @param {any} test a result of jest-circus @returns {any} the one that jest reports */
function reportOf({ testPath: [_root, ...names], status, errors, errorsDetailed, ...test }) {
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1),
    fullName: names.join(" "),
    status: errors.length > 0 ? "failed" : status === "skip" ? "pending" : status === "todo" ? "todo" : "passed",
    failureMessages: errors,
    failureDetails: errorsDetailed,
    duration: test.duration,
    invocations: test.invocations,
    location: test.location,
    numPassingAsserts: test.numPassingAsserts,
    retryReasons: [],
  };
}

/** @param {any[]} testResults @param {string[]} unhandledErrors @param {any} file */
function resultOf(testResults, unhandledErrors, { globalConfig, config, testPath }) {
  const count = (/** @type {string} */ wanted) => testResults.filter(({ status }) => status === wanted).length;
  const stack = unhandledErrors.join("\n");
  const failures = formatResultsErrors(testResults, config, globalConfig, testPath);
  return {
    ...createEmptyTestResult(),
    displayName: config.displayName,
    failureMessage: [failures, stack].filter(Boolean).join("\n\n") || null,
    numFailingTests: count("failed"),
    numPassingTests: count("passed"),
    numPendingTests: count("pending"),
    numTodoTests: count("todo"),
    testExecError: stack === "" ? undefined : { message: "", stack },
    testFilePath: testPath,
    testResults,
  };
}

import fc from "../node_modules/fast-check/lib/fast-check.js";

// What tests import as "fast-check": a suite draws the same cases on every run, so that a change is judged by what it changed.
// `FAST_CHECK_SEED=random npm test` draws others, a number those of that seed.
const wanted = process.env.FAST_CHECK_SEED ?? "1";
if (wanted !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) });

export * from "../node_modules/fast-check/lib/fast-check.js";
export default fc;

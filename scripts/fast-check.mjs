import fc from "../node_modules/fast-check/lib/fast-check.js";

// Tests import this file as "fast-check". A suite draws the same cases on every run, so that a failure comes from a change of the code.
// `FAST_CHECK_SEED=random npm test` draws other cases; a number is the seed to use.
const wanted = process.env.FAST_CHECK_SEED ?? "1";
if (wanted !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) });

export * from "../node_modules/fast-check/lib/fast-check.js";
export default fc;

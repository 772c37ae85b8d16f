import javascript from "@mrlm/sandbox-javascript";

// Every test of a submission passes.
const broken = (sandbox) => ({
  language: sandbox.language,
  layers: () => sandbox.layers(),
  run: (request, options) => sandbox.run(request, options),
  session: (request, options) => sandbox.session(request, options),
  close: () => sandbox.close(),
  async test(request, suite, options) {
    const report = await sandbox.test(request, suite, options);
    return { ...report, tests: report.tests.map((each) => ({ ...each, verdict: "passed" })) };
  },
});

export default {
  ...javascript,
  name: "sandbox-passes-all",
  sandboxes: {
    javascript: (context, options) => broken(javascript.sandboxes.javascript(context, options)),
  },
};

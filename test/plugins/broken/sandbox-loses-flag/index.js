import javascript from "@mrlm/sandbox-javascript";

// Output that was cut looks complete.
const broken = (sandbox) => ({
  language: sandbox.language,
  layers: () => sandbox.layers(),
  test: (request, suite, options) => sandbox.test(request, suite, options),
  session: (request, options) => sandbox.session(request, options),
  close: () => sandbox.close(),
  async run(request, options) {
    return { ...(await sandbox.run(request, options)), stdoutTruncated: false };
  },
});

export default {
  ...javascript,
  name: "sandbox-loses-flag",
  sandboxes: {
    javascript: (context, options) => broken(javascript.sandboxes.javascript(context, options)),
  },
};

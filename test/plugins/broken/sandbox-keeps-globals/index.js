import javascript from "@mrlm/sandbox-javascript";

let globals = "";

// Globals of a submission remain for the next one.
const broken = (sandbox) => ({
  language: sandbox.language,
  layers: () => sandbox.layers(),
  test: (request, suite, options) => sandbox.test(request, suite, options),
  session: (request, options) => sandbox.session(request, options),
  close: () => sandbox.close(),
  run(request, options) {
    const before = globals;
    if (request.code.startsWith("globalThis.")) globals = `${request.code};`;
    return sandbox.run({ ...request, code: before + request.code }, options);
  },
});

export default {
  ...javascript,
  name: "sandbox-keeps-globals",
  sandboxes: {
    javascript: (context, options) => broken(javascript.sandboxes.javascript(context, options)),
  },
};

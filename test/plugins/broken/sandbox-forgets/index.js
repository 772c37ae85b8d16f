import javascript from "@mrlm/sandbox-javascript";

// Each input of a session has a new interpreter.
const broken = (sandbox) => ({
  language: sandbox.language,
  layers: () => sandbox.layers(),
  run: (request, options) => sandbox.run(request, options),
  test: (request, suite, options) => sandbox.test(request, suite, options),
  close: () => sandbox.close(),
  async session(request, options) {
    const closed = await sandbox.session(request, options);
    return {
      close: () => closed.close(),
      async evaluate(input, given) {
        const other = await sandbox.session(request, options);
        try {
          return await other.evaluate(input, given);
        } finally {
          await other.close();
        }
      },
    };
  },
});

export default {
  ...javascript,
  name: "sandbox-forgets",
  sandboxes: {
    javascript: (context, options) => broken(javascript.sandboxes.javascript(context, options)),
  },
};

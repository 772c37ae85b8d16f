import { createServer } from "node:net";
import javascript from "@mrlm/sandbox-javascript";

let server;

// Its server is never closed.
const broken = (sandbox) => ({
  language: sandbox.language,
  layers: () => sandbox.layers(),
  test: (request, suite, options) => sandbox.test(request, suite, options),
  session: (request, options) => sandbox.session(request, options),
  close: () => sandbox.close(),
  async run(request, options) {
    server ??= createServer().listen(0, "127.0.0.1").unref();
    return sandbox.run(request, options);
  },
});

export default {
  ...javascript,
  name: "sandbox-leaks",
  sandboxes: {
    javascript: (context, options) => broken(javascript.sandboxes.javascript(context, options)),
  },
};

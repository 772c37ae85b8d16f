process.env["SERVED_BY"] = "worker";
// The tests of a server in one process hold for requests that are forwarded to a worker.
await import("./sessions.test.ts");
await import("./multiplex.test.ts");

import type { Server } from "@grpc/grpc-js";

/** Waits for the calls under way, at most for `milliseconds`. */
export async function tryShutdown(server: Server, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  server.tryShutdown(() => resolve());
  await promise;
  clearTimeout(timer);
}

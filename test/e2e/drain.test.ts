import { createRequire } from "node:module";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import { HEALTH_SERVICE, healthProto } from "@mrlm/wire";
import { Mrlm } from "./support/mrlm.ts";

const { signal } = new AbortController();
const { SERVING, NOT_SERVING } = healthProto.HealthCheckResponse_ServingStatus;

type Response = healthProto.HealthCheckResponse;

/** Client of gRPC, as a probe of another program has it. */
interface Probe {
  makeServerStreamRequest(
    path: string,
    serialize: (request: healthProto.HealthCheckRequest) => Buffer,
    deserialize: (bytes: Buffer) => Response,
    request: healthProto.HealthCheckRequest,
  ): AsyncIterable<Response>;
  close(): void;
}

const grpc = createRequire(new URL("../../core/client/package.json", import.meta.url))("@grpc/grpc-js") as {
  readonly Client: new (address: string, credentials: unknown) => Probe;
  readonly credentials: { createInsecure(): unknown };
};

/** Returns the states of a service, one for each change. */
function watch(probe: Probe, service: string): AsyncIterator<Response> {
  const { path, requestSerialize, responseDeserialize } = HEALTH_SERVICE.watch;
  const call = probe.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service });
  return call[Symbol.asyncIterator]();
}

test.each(["0", "1"])(
  "mrlm serve --workers %s: SIGTERM withdraws the server at once, open sessions finish, and then it ends",
  async (workers) => {
    const server = new Mrlm([
      ...["serve", "--environments", "math", "--port", "0", "--json"],
      ...["--workers", workers, "--drain-seconds", "60"],
    ]);
    const { address } = await server.event(({ event }) => event === "listening");
    const host = await connectEnvironments(address as string);
    const ref = { id: "math", options: { families: ["ordering"] } };
    const session = await host.open(ref);
    const { agent } = await session.reset({ task: "train/5", signal });
    const other = await host.open(ref);
    const probe = new grpc.Client(address as string, grpc.credentials.createInsecure());
    const watches = ["", "math@2"].map((service) => watch(probe, service));
    const states = async () =>
      (await Promise.all(watches.map((each) => each.next()))).map(({ value }) => value?.status);
    expect(await states()).toEqual([SERVING, SERVING]);
    server.child.kill("SIGTERM");
    expect(await states()).toEqual([NOT_SERVING, NOT_SERVING]);
    await expect(other.reset({ task: "train/6", signal })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      retryDelayMs: expect.any(Number),
    });
    const message = textMessage("assistant", "<answer>1</answer>");
    const { terminated } = await session.step({ agent, message, finishReason: "stop" }, { signal });
    expect(terminated).toEqual({ [agent]: true });
    await Promise.all([session.close(), other.close()]);
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
    await host.close();
    probe.close();
  },
);

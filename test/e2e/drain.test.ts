import { Client, credentials } from "@grpc/grpc-js";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { textMessage } from "@mrlm/kit";
import { HEALTH_SERVICE, healthProto } from "@mrlm/wire";
import { Mrlm } from "./support/mrlm.ts";

const { signal } = new AbortController();
const { SERVING, NOT_SERVING } = healthProto.HealthCheckResponse_ServingStatus;

/** Returns the states of a service, one for each change. */
function watch(client: Client, service: string): AsyncIterator<healthProto.HealthCheckResponse> {
  const { path, requestSerialize, responseDeserialize } = HEALTH_SERVICE.watch;
  const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service });
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
    const probe = new Client(address as string, credentials.createInsecure());
    const watches = ["", "math@1"].map((service) => watch(probe, service));
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

/** Server process: echoes the steps of a stream with grpc-js, the messages of the protocol and their coalescing, and nothing else. */
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { ENVIRONMENT_SERVICE, Outbox, type Serialised, environmentProto as wire, serialise } from "@mrlm/wire";

const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
server.addService(
  { multiplex: ENVIRONMENT_SERVICE.multiplex },
  {
    multiplex(call: ServerDuplexStream<Serialised, Serialised>) {
      const outbox = new Outbox((frame) => call.write(frame));
      call.on("drain", () => outbox.drained());
      call.on("data", (frame: Serialised) => {
        for (const request of wire.MultiplexRequest.decode(frame).requests) {
          const response = { $case: "step", step: echo(request) } as const;
          const { requestId } = request;
          outbox.add(requestId, serialise(wire.SessionResponse, { requestId, response, chunk: undefined }));
        }
      });
      call.on("end", () => call.end());
      call.on("error", () => undefined);
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => console.log(port));

function echo({ request }: wire.SessionRequest): wire.StepResponse {
  const message = request?.$case === "step" ? request.step.action?.message : undefined;
  if (message === undefined) throw new Error("The bare echo knows steps only.");
  const value = 100;
  return {
    observation: {
      agent: "agent",
      messages: [{ ...message, role: "user" }],
      tools: undefined,
      infoJson: "",
      isFresh: false,
      maxTokens: 0,
    },
    rewards: new Map([
      ["agent", { result: { $case: "score", score: { value, components: new Map([["steps", value]]) } } }],
    ]),
    terminated: new Map([["agent", false]]),
    truncated: new Map([["agent", false]]),
    infoJson: "",
  };
}

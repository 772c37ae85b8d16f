// A process of another user of this machine. It is started with that user's id and makes raw gRPC calls and reads files, and prints what it got.
import { readFileSync } from "node:fs";
import { connect } from "node:http2";

/** @param {{ address: string, path: string, body: string, headers: Record<string, string>, limitMs: number }} call one unary call; the body is base64 */
function call({ address, path, body, headers, limitMs }) {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const answer = { status: "", message: "", bytes: "" };
    const end = (status) => {
      clearTimeout(timer);
      session.destroy();
      resolve({ ...answer, status: answer.status || status });
    };
    const timer = setTimeout(() => end("no answer"), limitMs);
    session.on("error", (error) => end(`not gRPC: ${error.code}`));
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const read = (fields) => {
      answer.status ||= String(fields["grpc-status"] ?? "");
      answer.message ||= decodeURIComponent(String(fields["grpc-message"] ?? ""));
    };
    const chunks = [];
    stream
      .on("response", read)
      .on("trailers", read)
      .on("error", (error) => end(`not gRPC: ${error.code}`));
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.on("close", () => {
      answer.bytes = Buffer.concat(chunks).toString("base64");
      end("closed");
    });
    const message = Buffer.from(body, "base64");
    const header = Buffer.alloc(5);
    header.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([header, message]));
  });
}

function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    return error.code;
  }
}

const { calls, files } = JSON.parse(readFileSync(0, "utf8"));
const answers = await Promise.all(calls.map(call));
console.log(JSON.stringify({ uid: process.getuid(), answers, files: files.map(read) }));

import { createSocket } from "node:dgram";
import { isIPv4 } from "node:net";

/** Answers of a name server, by name: addresses, another name (CNAME), or null for no answer at all. */
export type Zone = Readonly<Record<string, readonly string[] | string | null>>;

/** Name server on loopback. Follows its own CNAME records, as recursive servers do. */
export async function startNameServer(zone: Zone): Promise<{ readonly address: string; close(): Promise<void> }> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, end } = readName(query);
    const answer = answerOf(zone, query.subarray(0, end + 4), name);
    if (answer !== undefined) socket.send(answer, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    close: async () => await new Promise<void>((resolve) => socket.close(resolve)),
  };
}

function answerOf(zone: Zone, question: Buffer, name: string): Buffer | undefined {
  const type = question.readUInt16BE(question.length - 4);
  const records: Buffer[] = [];
  let owner = name;
  let found = zone[owner];
  if (found === null) return undefined;
  while (typeof found === "string") {
    records.push(record(owner, 5, encodeName(found)));
    owner = found;
    found = zone[owner];
  }
  for (const address of found ?? [])
    if (isIPv4(address) === (type === 1)) records.push(record(owner, type, encodeAddress(address)));
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2); // response; 3: the name does not exist
  head.writeUInt16BE(records.length, 6);
  head.fill(0, 8, 12);
  return Buffer.concat([head, question.subarray(12), ...records]);
}

function readName(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.of(0),
  ]);

const encodeAddress = (address: string): Buffer =>
  isIPv4(address)
    ? Buffer.from(address.split(".").map(Number))
    : Buffer.from(
        address
          .split(":")
          .map((group) => group.padStart(4, "0"))
          .join(""),
        "hex",
      );

function record(owner: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), head, data]);
}

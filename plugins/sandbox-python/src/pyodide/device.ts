import type { Fs } from "./emscripten.ts";

const MAJOR = 80;
let lastMinor = 0;

/** Makes the device `/dev/NAME` from JavaScript functions. Returns its path. */
export function addDevice(
  fs: Fs,
  name: string,
  read: (into: Uint8Array) => number,
  write: (bytes: Uint8Array) => void,
): string {
  const device = fs.makedev(MAJOR, lastMinor++);
  fs.registerDevice(device, {
    read: (_stream, buffer, offset, length) => read(new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length)),
    write: (_stream, buffer, offset, length) => {
      write(new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length));
      return length;
    },
  });
  const path = `/dev/${name}`;
  fs.mkdev(path, device);
  return path;
}

import { open } from "node:fs/promises";

/** The last lines of a log file that may be large; nothing if there is no such file. */
export async function lastLines(file: string, count: number): Promise<string> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, 16 * 1024);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-count).join("\n");
  } finally {
    await handle.close();
  }
}

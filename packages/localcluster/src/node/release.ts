import { readFile } from "node:fs/promises";

/** `debian-12-x64`: files unpacked for one release are not used on another. */
export async function releaseOf(file = "/etc/os-release"): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const field = (name: string) => new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] || "unknown";
  return `${field("ID")}-${field("VERSION_ID")}-${process.arch}`;
}

// A browser for tests: Debian's chromium, installed on first use (requires root and takes about a minute).
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Visit {
  readonly width: number;
  readonly height: number;
  readonly dark?: boolean;
}

export interface Browser {
  /** The HTML of the page after its scripts have run for some seconds. */
  dom(url: string, visit: Visit): Promise<string>;
  /** A screenshot as PNG. */
  picture(url: string, visit: Visit): Promise<Buffer>;
}

/** @throws Error that names the missing package */
export async function chromium(): Promise<Browser> {
  const path = found() ?? (await install());
  const visit = async (url: string, { width, height, dark = false }: Visit, ...more: readonly string[]) => {
    const profile = await mkdtemp(join(tmpdir(), "memhog-chromium-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", `--user-data-dir=${profile}`];
    const look = [`--window-size=${width},${height}`, `--blink-settings=preferredColorScheme=${dark ? 0 : 1}`];
    try {
      const args = [...flags, ...look, "--virtual-time-budget=8000", ...more, url];
      return (await run(path, args, { maxBuffer: 64 * 1024 * 1024, timeout: 90_000 })).stdout;
    } finally {
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  };
  return {
    dom: (url, look) => visit(url, look, "--dump-dom"),
    async picture(url, look) {
      const folder = await mkdtemp(join(tmpdir(), "memhog-picture-"));
      const file = join(folder, "page.png");
      await visit(url, look, `--screenshot=${file}`);
      const picture = await readFile(file);
      await rm(folder, { recursive: true });
      return picture;
    },
  };
}

function found(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, "chromium")).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function install(): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    await run("apt-get", ["update"], { env });
    await run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { env, maxBuffer: 64 * 1024 * 1024 });
  } catch (cause) {
    throw new Error("expected chromium on the PATH or to be able to install it, found neither → apt-get install chromium", {
      cause,
    });
  }
  const path = found();
  if (path === undefined) throw new Error("expected chromium after its installation, found none");
  return path;
}

// The Go on this machine: whether it will do, and running it.
import { GoFailedError, GoMissingError, GoTooOldError } from "../errors.ts";
import { type CommandFailure, run } from "./command.ts";
import type { Search } from "./search.ts";

export interface Go {
  /** "1.26.8" */
  readonly version: string;
  /** Runs `go` with these arguments in its folder and returns what it printed. */
  run(args: readonly string[], heard?: (text: string) => void): Promise<string>;
}

/** A Go that can build this Kubernetes, working in this folder; throws where there is none. */
export async function findGo(folder: string, search: Search): Promise<Go> {
  const options = { cwd: folder, env: environmentIn(folder, search.env), signal: search.signal };
  const wanted = search.kubernetes.go;
  const answer = await run(search.go, ["env", "-json", "GOVERSION", "GOTOOLCHAIN"], options).catch((cause) => {
    search.signal?.throwIfAborted();
    throw new GoMissingError(search.go, wanted, cause);
  });
  const { GOVERSION = "", GOTOOLCHAIN = "local" }: Record<string, string> = JSON.parse(answer);
  if (!willDo(GOVERSION, GOTOOLCHAIN, wanted)) throw new GoTooOldError(GOVERSION.replace(/^go/, "") || "(unknown)", wanted);
  return {
    version: GOVERSION.replace(/^go/, ""),
    run: (args, heard) =>
      run(search.go, args, { ...options, ...(heard && { heard }) }).catch((failure) => {
        search.signal?.throwIfAborted();
        throw new GoFailedError(`go ${args.slice(0, 2).join(" ")}`, lastWords(failure));
      }),
  };
}

/** New enough, or able to fetch by itself the Go that the source asks for, which Go has been since 1.21. */
export function willDo(version: string, toolchain: string, wanted: string): boolean {
  return isAtLeast(version, wanted) || (toolchain !== "local" && isAtLeast(version, "1.21"));
}

function isAtLeast(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = numbersOf(version);
  const [wantedMajor = 0, wantedMinor = 0] = numbersOf(wanted);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** "go1.26.8", "1.26" and "devel go1.27-8e1f2ab" all begin with two numbers. */
function numbersOf(version: string): readonly number[] {
  return /(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number) ?? [];
}

/** The user's own settings (GOFLAGS, GOPROXY, …), and two of ours. */
function environmentIn(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    GOWORK: "off", // a workspace in some folder above is not meant for us
    GOTMPDIR: folder, // so that a build that is killed leaves its litter where it is swept
  };
}

/** The end of what Go said, without the modules that it managed to download. `go mod download -json` complains on stdout. */
function lastWords({ message, stdout = "", stderr = "" }: CommandFailure): string {
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("go: downloading "));
  return lines.slice(-12).join("\n") || message;
}

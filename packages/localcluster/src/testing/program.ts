// A program under test, as somebody would start it from a terminal.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Starts it with this Node; disposing of it asks it to end (SIGTERM), and throws unless it ends in order. */
export function startProgram(main: string, ...flags: readonly string[]): AsyncDisposable {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  const exited = once(child, "exit");
  const close = async () => {
    child.kill("SIGTERM");
    const [code, signal] = await exited;
    if (code !== 0) throw new Error(`expected ${main} to end in order, found ${signal ?? `exit code ${code}`}:\n${said}`);
  };
  return { [Symbol.asyncDispose]: close };
}

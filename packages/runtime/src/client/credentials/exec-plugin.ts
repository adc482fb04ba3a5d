// Credential plugins: a program named in the kubeconfig prints a credential, for example for a cloud login. It runs when a credential is
// first needed, when it expires and when the server rejects it; never twice at the same time.

import type { ChildProcess } from "node:child_process";
import { DeadlineExceededError, timeoutSignal } from "../../concurrency/abort.ts";
import type { Clock } from "../../concurrency/environment.ts";
import { type ExecConfig, Secret } from "../config/config.ts";
import { ConfigError } from "../errors.ts";
import { foundInsteadOfToken } from "./identity.ts";

/** Long enough for an interactive login with a second factor. */
const patienceMs = 300_000;

export interface ExecOptions {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a user can answer on stdin. @default whether stdin is a terminal */
  readonly interactive?: boolean | undefined;
}

export class ExecPlugin {
  readonly #config: ExecConfig;
  readonly #options: ExecOptions;
  #current: ExecCredential | undefined;
  #pending: Promise<ExecCredential> | undefined;

  constructor(config: ExecConfig, options: ExecOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** Returns a credential that has not expired. @throws ConfigError if the plugin fails */
  credential(): Promise<ExecCredential> {
    const { expiresAt = Number.POSITIVE_INFINITY } = this.#current ?? {};
    if (this.#current !== undefined && this.#options.clock.now() < expiresAt) return Promise.resolve(this.#current);
    this.#pending ??= this.#run().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** The server rejected this credential. If it is the current one, the next call runs the plugin again. */
  refused(credential: ExecCredential): void {
    if (this.#current === credential) this.#current = undefined;
  }

  async #run(): Promise<ExecCredential> {
    const { apiVersion, command } = this.#config;
    const what = `credential plugin ${command}`;
    this.#current = parseExecCredential(await this.#output(what), apiVersion, what);
    return this.#current;
  }

  async #output(what: string): Promise<string> {
    const { command, args, env } = this.#config;
    const { clock } = this.#options;
    const interactive = this.#interactive(what);
    const { spawn } = await import("node:child_process"); // loaded only when needed: not in a pod
    using limit = timeoutSignal({ clock, timeoutMs: patienceMs, what });
    const child = spawn(command, args, {
      env: { ...this.#options.env, ...env, KUBERNETES_EXEC_INFO: this.#execInfo(interactive) },
      // The plugin's stderr is for the user ("open this URL to log in") and goes to ours, as with kubectl.
      stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
      signal: limit.signal,
    });
    return await jsonPrintedBy(child, limit.signal).catch((error: Error) => {
      throw this.#failed(what, error);
    });
  }

  #interactive(what: string): boolean {
    const { interactiveMode } = this.#config;
    const { interactive = process.stdin.isTTY === true } = this.#options;
    if (interactiveMode === "Always" && !interactive) {
      throw new ConfigError(`${what}: expected a terminal to ask a person (interactiveMode Always), found none`);
    }
    return interactiveMode !== "Never" && interactive;
  }

  #execInfo(interactive: boolean): string {
    const { apiVersion, clusterInfo } = this.#config;
    return JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive, cluster: clusterInfo } });
  }

  #failed(what: string, cause: Error): ConfigError {
    const { installHint } = this.#config;
    if (cause instanceof DeadlineExceededError) return new ConfigError(cause.message, { cause });
    if (cause instanceof FailedError)
      return new ConfigError(`${what}: expected exit 0, found ${cause.message}; its own messages are on stderr`);
    return new ConfigError(`${what}: expected it to run, found ${cause.message}${installHint ? ` → ${installHint}` : ""}`, {
      cause,
    });
  }
}

export interface ExecCredential {
  readonly token: Secret | undefined;
  readonly certificate: Secret | undefined;
  readonly key: Secret | undefined;
  /** Wall-clock milliseconds; undefined: valid until rejected. */
  readonly expiresAt: number | undefined;
}

interface RawCredential {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

/** @param what The plugin, for error messages. They never include its output. */
export function parseExecCredential(text: string, apiVersion: string, what: string): ExecCredential {
  const { status, ...raw } = parsed(text, what);
  if (raw.kind !== "ExecCredential" || raw.apiVersion !== apiVersion) {
    throw new ConfigError(`${what}: expected an ExecCredential of ${apiVersion}, found ${raw.kind} of ${raw.apiVersion}`);
  }
  const wrong = Object.entries(status ?? {}).find(([, value]) => typeof (value ?? "") !== "string");
  if (wrong !== undefined) throw new ConfigError(`${what}: expected status.${wrong[0]} to be text, found ${typeof wrong[1]}`);
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status ?? {};
  if (!token && !certificate && !key) throw new ConfigError(`${what}: expected a token or a client certificate, found neither`);
  const instead = token ? foundInsteadOfToken(token) : undefined;
  if (instead !== undefined) throw new ConfigError(`${what}: expected a token of one line, found ${instead}`);
  if (!certificate !== !key) throw new ConfigError(`${what}: expected a client certificate and its key, found only one of them`);
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAt)) throw new ConfigError(`${what}: expected expirationTimestamp to be a date, found another text`);
  return { token: hidden(token), certificate: hidden(certificate), key: hidden(key), expiresAt };
}

function parsed(text: string, what: string): RawCredential {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The parser's message quotes the text, which may be a credential.
  }
  throw new ConfigError(`${what}: expected it to print an ExecCredential as JSON, found ${text.length} other characters`);
}

function hidden(text: string | undefined): Secret | undefined {
  return text ? new Secret(text) : undefined;
}

// Collects the output of a program. A program may leave a child process behind that keeps its output open (a helper that refreshes a
// login), so reading stops when the program has exited and the output is complete JSON.

/** No credential is this large. */
const maxOutputBytes = 1024 * 1024;

/** Resolves with the JSON output after exit code 0. Rejects with FailedError after another exit code, or with the error of the start. */
export async function jsonPrintedBy(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString("utf8");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let bytes = 0;
  let exited = false;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) child.kill();
    else chunks.push(chunk);
    if (exited && isWhole(text())) resolve(text());
  });
  const onAbort = () => reject(signal.reason);
  child.on("error", (error) => reject(signal.aborted ? signal.reason : error));
  child.on("exit", (code, by) => {
    if (code !== 0) reject(new FailedError(`exit ${by ?? code}`));
    exited = true;
    if (isWhole(text())) resolve(text());
  });
  child.on("close", () => resolve(text()));
  signal.addEventListener("abort", onAbort, { once: true }); // a program that has ended cannot be told any more
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    child.stdout?.destroy();
  }
}

/** The program exited with a failure. */
export class FailedError extends Error {
  override readonly name = "FailedError";
}

/** The start of a JSON object is never valid JSON by itself. */
function isWhole(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

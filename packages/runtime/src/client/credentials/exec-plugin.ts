// Credential plugins: a program from the kubeconfig that prints who we are (cloud logins work this way). It is run when
// its credential is first needed, when that expires, and when the server refuses it; never twice at the same time.
import { DeadlineExceededError, timeoutSignal } from "../../concurrency/abort.ts";
import type { Clock } from "../../concurrency/environment.ts";
import type { ExecConfig } from "../config/config.ts";
import { ConfigError } from "../errors.ts";
import { FailedError, jsonPrintedBy } from "./child-output.ts";
import { type ExecCredential, parseExecCredential } from "./exec-credential.ts";

/** A person may have to find a phone and type a number. */
const patienceMs = 300_000;

export interface ExecOptions {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a person is at the other end of stdin. @default stdin is a terminal */
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

  /** A credential that has not expired. @throws ConfigError if the plugin fails */
  credential(): Promise<ExecCredential> {
    const { expiresAt = Number.POSITIVE_INFINITY } = this.#current ?? {};
    if (this.#current !== undefined && this.#options.clock.now() < expiresAt) return Promise.resolve(this.#current);
    this.#pending ??= this.#run().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** The server did not accept this one. If it is still the current one, the next is a new one. */
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
    const { spawn } = await import("node:child_process"); // in a pod nobody needs it, and it comes with much else
    using limit = timeoutSignal({ clock, timeoutMs: patienceMs, what });
    const child = spawn(command, args, {
      env: { ...this.#options.env, ...env, KUBERNETES_EXEC_INFO: this.#execInfo(interactive) },
      // Its stderr is for people ("open this address to log in") and goes where ours goes, as with kubectl.
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

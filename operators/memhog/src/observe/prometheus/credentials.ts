// What proves who we are. Files are read for every question: a token in a volume is renewed every hour or so, and a question is
// asked a few times a minute.
import { readFile } from "node:fs/promises";
import { PrometheusError } from "./errors.ts";
import type { Address, PrometheusOptions } from "./options.ts";

/** @throws PrometheusError if a file cannot be read */
export async function headersFor(
  options: PrometheusOptions,
  { userinfo }: Pick<Address, "userinfo">,
): Promise<Record<string, string>> {
  const own = Object.fromEntries(Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const authorization = await authorizationFor(options, userinfo);
  return authorization === undefined ? own : { ...own, authorization };
}

async function authorizationFor(options: PrometheusOptions, userinfo: string | undefined): Promise<string | undefined> {
  const { bearerTokenFile, username, passwordFile } = options;
  if (bearerTokenFile !== undefined) return `Bearer ${await secretIn(bearerTokenFile, "a bearer token")}`;
  if (username !== undefined) {
    const password = passwordFile === undefined ? "" : await secretIn(passwordFile, "a password");
    return basic(`${username}:${password}`);
  }
  return userinfo === undefined ? undefined : basic(userinfo);
}

function basic(userAndPassword: string): string {
  return `Basic ${Buffer.from(userAndPassword).toString("base64")}`;
}

async function secretIn(path: string, what: string): Promise<string> {
  const text = (await textIn(path, what)).trim();
  // A line break would end the header, and what follows would be one of its own.
  if (text === "" || /[\r\n]/.test(text))
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} on one line in ${path}, found something else`);
  return text;
}

export async function textIn(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code = "an error" } = cause as NodeJS.ErrnoException;
    throw new PrometheusError("PROMETHEUS_CONFIG", `expected ${what} in ${path}, found ${code}`, { cause });
  }
}

// A kubeconfig that carries everything in itself, so that the one file can be handed on.
import { writeFile } from "node:fs/promises";
import { stringify } from "yaml";
import type { CertifiedKey } from "./certificates.ts";

export interface KubeconfigOptions {
  /** Names of the cluster, the user and the context; people see the context in their prompt. */
  readonly name: string;
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly user: CertifiedKey | { readonly token: string };
  /** @default "default", by kubectl's own rule */
  readonly namespace?: string;
}

export function kubeconfig({ name, server, authority, user, namespace }: KubeconfigOptions): string {
  const context = { cluster: name, user: name, ...(namespace === undefined ? {} : { namespace }) };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(authority) } }],
    users: [{ name, user: credentials(user) }],
    contexts: [{ name, context }],
    "current-context": name,
  });
}

/** Written for its owner's eyes only. */
export async function writeKubeconfig(file: string, options: KubeconfigOptions): Promise<string> {
  await writeFile(file, kubeconfig(options), { mode: 0o600 });
  return file;
}

function credentials(user: KubeconfigOptions["user"]): object {
  if ("token" in user) return { token: user.token };
  return { "client-certificate-data": base64(user.certificate), "client-key-data": base64(user.key) };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

// The API server, as close to a production one as a test can afford: TLS, RBAC and Node authorization, service account
// tokens, aggregation. Only its limits are raised, and it does not wait for anybody when it is told to stop.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { serviceRange } from "../node/network.ts";
import type { ComponentSpec } from "../process/component.ts";
import { host } from "../process/place.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { etcdUrl } from "./etcd.ts";
import type { Pki } from "./pki.ts";
import type { Site } from "./site.ts";
import { statusOf } from "./status-of.ts";

export interface ApiServerOptions {
  readonly binary: string;
  readonly site: Site;
  readonly pki: Pki;
  readonly directory: ClusterDirectory;
  /** The file that gets a line per request. @default none */
  readonly auditLog?: string | undefined;
  /** Beside those it has anyway. @default none */
  readonly admissionPlugins?: readonly string[] | undefined;
}

/** Tokens say that it issued them, and are meant for it. */
const issuer = "https://kubernetes.default.svc.cluster.local";

export async function apiServer(options: ApiServerOptions): Promise<ComponentSpec> {
  const { binary, site, pki, directory, auditLog, admissionPlugins = [] } = options;
  const argv = [
    binary,
    ...serving(site, pki),
    ...identity(pki),
    `--enable-admission-plugins=${["NodeRestriction", ...admissionPlugins].join()}`,
    ...behaviour(site, directory),
    ...(await audit(auditLog, directory)),
  ];
  const ready = async (signal: AbortSignal) => {
    const probe = { host: "127.0.0.1", port: site.hostPort, path: "/readyz", ca: pki.authority.certificate, signal };
    while ((await statusOf(probe)) !== 200) await sleep(50, undefined, { signal });
  };
  // It would wait a minute for those who are connected, and for an etcd that has gone. Whoever stops it wants it stopped.
  return { name: "kube-apiserver", argv, place: site.place, ready, graceMs: 500 };
}

function serving({ place, address, port }: Site, pki: Pki): readonly string[] {
  return [
    // In a sandbox pods call it at the node's address and the forwarder does, too; on the host nobody outside may.
    `--bind-address=${place === host ? "127.0.0.1" : "0.0.0.0"}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${pki.apiServer.certificate}`,
    `--tls-private-key-file=${pki.apiServer.key}`,
    // Endpoints of the Service `kubernetes` may not be loopback addresses; without nodes nobody asks for them.
    `--endpoint-reconciler-type=${place === host ? "none" : "lease"}`,
  ];
}

function identity(pki: Pki): readonly string[] {
  return [
    "--authorization-mode=Node,RBAC",
    `--client-ca-file=${pki.authorityFiles.certificate}`,
    `--service-account-issuer=${issuer}`,
    `--service-account-signing-key-file=${pki.serviceAccountKey}`,
    `--service-account-key-file=${pki.serviceAccountPublicKey}`,
    `--kubelet-client-certificate=${pki.kubeletClient.certificate}`,
    `--kubelet-client-key=${pki.kubeletClient.key}`,
    `--kubelet-certificate-authority=${pki.authorityFiles.certificate}`,
    // By the name of the node it would ask DNS, which knows nothing of it.
    "--kubelet-preferred-address-types=InternalIP",
    `--requestheader-client-ca-file=${pki.frontProxyAuthority}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${pki.frontProxyClient.certificate}`,
    `--proxy-client-key-file=${pki.frontProxyClient.key}`,
  ];
}

function behaviour({ place }: Site, directory: ClusterDirectory): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl(directory)}`,
    `--service-cluster-ip-range=${serviceRange}`,
    "--allow-privileged=true",
    "--profiling=false",
    // A test that floods it means to measure itself, not the limits of a small machine.
    "--max-requests-inflight=4000",
    "--max-mutating-requests-inflight=2000",
    // Webhooks and extension API servers of a real node are called at their pods: there is no kube-proxy on the host.
    ...(place === host ? [] : ["--enable-aggregator-routing=true"]),
  ];
}

/** Who did what: every request with its user, and the body of every write; never the body of a secret. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", resources: [{ group: "", resources: ["secrets", "serviceaccounts/token"] }] },
    { level: "Metadata", resources: [{ group: "authentication.k8s.io" }] },
    { level: "Request", verbs: ["create", "update", "patch", "delete", "deletecollection"] },
    { level: "Metadata" },
  ],
};

async function audit(auditLog: string | undefined, directory: ClusterDirectory): Promise<readonly string[]> {
  if (auditLog === undefined) return [];
  const policy = join(directory.data, "audit-policy.yaml");
  await writeFile(policy, stringify(auditPolicy));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
}

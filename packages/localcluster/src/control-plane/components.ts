// The command lines of the control plane: etcd, API server, controller manager, scheduler. They are close to production: TLS, RBAC and
// Node authorization, service account tokens, aggregation, each controller with its own rights. What differs makes tests fast: etcd
// does not wait for the disk, there is no leader election, limits are raised, and shutdown is not graceful.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { serviceRange } from "../node/network.ts";
import { type ComponentSpec, type ExecContext, host } from "../process/component.ts";
import { healthCheckIn, statusOf, waitUntil } from "../process/probe.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { writeEgressConfiguration } from "./egress-proxy.ts";
import type { Pki } from "./pki.ts";

/** A unix socket needs no port, admits no other clients, and is reachable from every network namespace. */
const etcdSocket = ({ run }: ClusterDirectory) => join(run, "etcd");

export function etcd(binary: string, context: ExecContext, directory: ClusterDirectory): ComponentSpec {
  const socketPath = etcdSocket(directory);
  const client = `unix://${socketPath}`;
  const peer = `unix://${join(directory.run, "etcd-peer")}`;
  const argv = [
    binary,
    "--name=etcd",
    `--data-dir=${join(directory.data, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
    // The data does not have to survive a power failure.
    "--unsafe-no-fsync",
    // Tests with many objects should not reach the default quota of 2 GiB, nor fill the disk with history.
    "--quota-backend-bytes=8589934592",
    "--snapshot-count=10000",
    "--log-level=warn",
  ];
  const ready = (signal: AbortSignal) =>
    waitUntil(async () => (await statusOf({ socketPath, path: "/readyz", signal })) === 200, signal);
  return { name: "etcd", argv, context, ready, graceMs: 500 };
}

/** Where the API server listens, and how clients reach it. On the host, `port` and `hostPort` are the same. */
export interface ApiServerAddress {
  readonly context: ExecContext;
  /** The address that it advertises, in the network of its context. */
  readonly address: string;
  readonly port: number;
  /** The port at 127.0.0.1 for clients on the host. */
  readonly hostPort: number;
}

export interface ApiServerOptions {
  readonly binary: string;
  readonly at: ApiServerAddress;
  readonly pki: Pki;
  readonly directory: ClusterDirectory;
  /** The file that gets a line per request. @default none */
  readonly auditLog?: string | undefined;
  /** In addition to the default ones. @default none */
  readonly admissionPlugins?: readonly string[] | undefined;
}

export async function apiServer(options: ApiServerOptions): Promise<ComponentSpec> {
  const { binary, at, pki, directory, auditLog, admissionPlugins = [] } = options;
  const argv = [
    binary,
    ...servingFlags(at, pki),
    ...authenticationFlags(pki),
    `--enable-admission-plugins=${["NodeRestriction", ...admissionPlugins].join()}`,
    ...behaviorFlags(directory),
    // In a sandbox there is no route out; on the host the egress proxy refuses connections that would leave the machine.
    ...(at.context === host ? [`--egress-selector-config-file=${await writeEgressConfiguration(directory)}`] : []),
    ...(auditLog === undefined ? [] : await auditFlags(auditLog, directory)),
  ];
  const ready = (signal: AbortSignal) => {
    const probe = { host: "127.0.0.1", port: at.hostPort, path: "/readyz", ca: pki.authority.certificate, signal };
    return waitUntil(async () => (await statusOf(probe)) === 200, signal);
  };
  // A graceful shutdown waits up to a minute for connected clients, and for an etcd that has stopped.
  return { name: "kube-apiserver", argv, context: at.context, ready, graceMs: 500 };
}

function servingFlags({ context, address, port }: ApiServerAddress, pki: Pki): readonly string[] {
  return [
    // In a sandbox, pods and the forwarder connect to the node's address; on the host, only local clients may connect.
    `--bind-address=${context === host ? "127.0.0.1" : "0.0.0.0"}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${pki.apiServer.certificate}`,
    `--tls-private-key-file=${pki.apiServer.key}`,
    // Loopback addresses are not valid endpoints of the Service `kubernetes`, and without a real node nothing uses them.
    `--endpoint-reconciler-type=${context === host ? "none" : "lease"}`,
  ];
}

function authenticationFlags(pki: Pki): readonly string[] {
  return [
    "--authorization-mode=Node,RBAC",
    `--client-ca-file=${pki.authorityFiles.certificate}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-signing-key-file=${pki.serviceAccountKey}`,
    `--service-account-key-file=${pki.serviceAccountPublicKey}`,
    `--kubelet-client-certificate=${pki.kubeletClient.certificate}`,
    `--kubelet-client-key=${pki.kubeletClient.key}`,
    `--kubelet-certificate-authority=${pki.authorityFiles.certificate}`,
    // By default it would look up the node's name in DNS.
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

function behaviorFlags(directory: ClusterDirectory): readonly string[] {
  return [
    `--etcd-servers=unix://${etcdSocket(directory)}`,
    `--service-cluster-ip-range=${serviceRange}`,
    "--allow-privileged=true",
    "--profiling=false",
    // A load test measures the test, not these limits.
    "--max-requests-inflight=4000",
    "--max-mutating-requests-inflight=2000",
    // Resolves a Service to the addresses of its EndpointSlices. By default webhooks and aggregated API servers are called at the
    // cluster IP, which nothing on the host has, or at the name of an ExternalName Service.
    "--enable-aggregator-routing=true",
  ];
}

/** Every request with its user, and the body of every write, except for secrets and tokens. */
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

async function auditFlags(auditLog: string, directory: ClusterDirectory): Promise<readonly string[]> {
  const policy = join(directory.data, "audit-policy.yaml");
  await writeFile(policy, stringify(auditPolicy));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
}

export interface ControllerOptions {
  readonly binary: string;
  readonly context: ExecContext;
  /** Of its own user, with the server's address in its context. */
  readonly kubeconfig: string;
  /** Serves its health check. */
  readonly port: number;
}

export function controllerManager(options: ControllerOptions, pki: Pki, { data }: ClusterDirectory): ComponentSpec {
  const flags = [
    // Each controller as its own service account with its own rights, as in production.
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${pki.serviceAccountKey}`,
    `--root-ca-file=${pki.authorityFiles.certificate}`,
    `--cluster-signing-cert-file=${pki.authorityFiles.certificate}`,
    `--cluster-signing-key-file=${pki.authorityFiles.key}`,
    // It creates this folder; by default below /usr/libexec, where it would outlive the cluster.
    `--flex-volume-plugin-dir=${join(data, "flex-volumes")}`,
  ];
  return controller("kube-controller-manager", options, flags);
}

export function scheduler(options: ControllerOptions): ComponentSpec {
  return controller("kube-scheduler", options, []);
}

function controller(name: string, { binary, context, kubeconfig, port }: ControllerOptions, flags: readonly string[]) {
  const argv = [
    binary,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    // There is only one of each: an election would take seconds, and 15 s more after every restart.
    "--leader-elect=false",
    // The default of 20 requests per second would only make tests wait.
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
    "--profiling=false",
    ...flags,
  ];
  return { name, argv, context, ready: healthCheckIn(context, port), graceMs: 500 } satisfies ComponentSpec;
}

// Starts the control plane: etcd, the API server, then the controllers.
//
//   components.ts     the command line and readiness check of each component
//   egress-proxy.ts   the only way out for an API server on the host
//   pki.ts            certificates and kubeconfigs
import { join } from "node:path";
import type { BinaryName, BinaryPaths } from "../binaries/binaries.ts";
import { apiServerPort, kubernetesServiceAddress } from "../node/network.ts";
import type { Sandbox } from "../node/sandbox.ts";
import { type Component, type ComponentSpec, type ExecContext, host, startComponent } from "../process/component.ts";
import { assertPortFree, withFreePort } from "../process/sockets.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { type ApiServerAddress, apiServer, controllerManager, etcd, scheduler } from "./components.ts";
import { egressProxy } from "./egress-proxy.ts";
import { type CertificateRequest, createPki, type Pki, writeKubeconfig } from "./pki.ts";

/** What can run in addition to etcd and the API server. */
export type Controller = "kube-controller-manager" | "kube-scheduler";

export interface ControlPlaneOptions {
  readonly directory: ClusterDirectory;
  readonly network: ControlPlaneNetwork;
  /** Of etcd, the API server and the requested controllers. */
  readonly binaries: BinaryPaths;
  readonly controllers: readonly Controller[];
  readonly auditLog?: string | undefined;
  readonly admissionPlugins?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** Called with the name of each component before it is started. */
  readonly onStart?: (component: string) => void;
}

export interface ControlPlane {
  readonly pki: Pki;
  /** In the order of their start. */
  readonly components: readonly Component[];
  /** Writes a kubeconfig for a component of the cluster and returns its path. */
  kubeconfigInside(name: string, user: CertificateRequest): Promise<string>;
}

/** Resolves when every component is ready. On failure the caller removes the cluster, so nothing is stopped here. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { directory, network, binaries, auditLog, admissionPlugins } = options;
  const pki = await createPki(directory, apiServerHosts(network.address));
  const first = [etcd(pathOf("etcd", binaries), network.context, directory)];
  if (network.context === host) first.push(egressProxy(directory));
  const started = await Promise.all(first.map((spec) => start(spec, options)));
  const { at, server } = await network.withAddress(async (address) => {
    const binary = pathOf("kube-apiserver", binaries);
    const spec = await apiServer({ binary, at: address, pki, directory, auditLog, admissionPlugins });
    return { at: address, server: await start(spec, options) };
  });
  await writeAdminKubeconfig(directory, at, pki);
  // The suffix is not .kubeconfig, so that nobody uses the file on the host, where a connection to an inside address would leave the
  // machine.
  const kubeconfigInside: ControlPlane["kubeconfigInside"] = async (name, user) =>
    writeKubeconfig(join(directory.pki, `${name}.inside-only`), {
      name: user.commonName,
      server: `https://${at.address}:${at.port}`,
      authority: pki.authority.certificate,
      user: await pki.authority.issue(user),
    });
  const startController = async (name: Controller) => {
    const kubeconfig = await kubeconfigInside(name, { commonName: `system:${name}` });
    return withFreePort((port) => {
      const settings = { binary: pathOf(name, binaries), context: at.context, kubeconfig, port };
      const spec = name === "kube-scheduler" ? scheduler(settings) : controllerManager(settings, pki, directory);
      return start(spec, options);
    });
  };
  const controllers = await Promise.all(options.controllers.map(startController));
  return { pki, components: [...started, server, ...controllers], kubeconfigInside };
}

function start(spec: ComponentSpec, { directory, signal, onStart }: ControlPlaneOptions): Promise<Component> {
  onStart?.(spec.name);
  return startComponent({ ...spec, signal }, directory);
}

/** For users and tests on the host; a member of the group that may do anything. */
async function writeAdminKubeconfig(directory: ClusterDirectory, { hostPort }: ApiServerAddress, pki: Pki): Promise<void> {
  const user = await pki.authority.issue({ commonName: "admin", organizations: ["system:masters"] });
  const name = `localcluster-${directory.name}`;
  const server = `https://127.0.0.1:${hostPort}`;
  await writeKubeconfig(directory.kubeconfig, { name, server, authority: pki.authority.certificate, user });
}

function pathOf(name: BinaryName, binaries: BinaryPaths): string {
  const path = binaries[name];
  if (path === undefined) throw new TypeError(`internal error: the path of ${name} is not known`);
  return path;
}

/** The names and addresses of the API server for its certificate. */
function apiServerHosts(address: string): readonly string[] {
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  return [...new Set(["localhost", "127.0.0.1", ...service, kubernetesServiceAddress, address])];
}

/** Where the control plane runs, and how the API server gets its address. */
export interface ControlPlaneNetwork {
  readonly context: ExecContext;
  /** Of the API server, in the network of its context. */
  readonly address: string;
  /** Calls `start` with an address for the API server; on the host again with another port if it was taken in between. */
  withAddress<T>(start: (at: ApiServerAddress) => Promise<T>): Promise<T>;
}

/** On the host, at the given port or a free one. */
export function hostNetwork(port?: number): ControlPlaneNetwork {
  const address = "127.0.0.1";
  const at = (chosen: number): ApiServerAddress => ({ context: host, address, port: chosen, hostPort: chosen });
  return {
    context: host,
    address,
    withAddress: async (start) =>
      port === undefined ? withFreePort((free) => start(at(free))) : start(at(await assertPortFree(port))),
  };
}

/** In a sandbox, at its usual port, with a port forwarded on the host. */
export function sandboxNetwork(sandbox: Sandbox, port?: number): ControlPlaneNetwork {
  const address = sandbox.nodeAddress;
  return {
    context: sandbox,
    address,
    withAddress: async (start) => {
      const hostPort = await sandbox.forward(apiServerPort, port === undefined ? {} : { hostPort: await assertPortFree(port) });
      return start({ context: sandbox, address, port: apiServerPort, hostPort });
    },
  };
}

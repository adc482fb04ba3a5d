// The control plane: etcd, then the API server, then those that work for it.
//
//   etcd.ts  ←  api-server.ts  ←  controller-manager.ts, scheduler.ts      who waits for whom
//   pki.ts (certificates.ts, der.ts)                                       who is who
//   ground.ts, site.ts                                                     where it stands
//
// A component here is a value (ComponentSpec): what to run and how to know that it answers. Starting it is process/'s business.
import { join } from "node:path";
import type { BinaryName } from "../binaries/binaries.ts";
import { type Component, type ComponentSpec, startComponent } from "../process/component.ts";
import { withFreePort } from "../process/ports.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { apiServer } from "./api-server.ts";
import type { CertificateRequest } from "./certificates.ts";
import { controllerManager } from "./controller-manager.ts";
import { etcd } from "./etcd.ts";
import type { Ground } from "./ground.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { createPki, type Pki } from "./pki.ts";
import { scheduler } from "./scheduler.ts";
import { apiServerHosts, type Site, serverInside, serverOnHost } from "./site.ts";

/** What may run beside etcd and the API server. */
export type Controller = "kube-controller-manager" | "kube-scheduler";

export interface ControlPlaneOptions {
  readonly directory: ClusterDirectory;
  readonly ground: Ground;
  /** Of etcd, the API server and the controllers asked for. */
  readonly binaries: Readonly<Partial<Record<BinaryName, string>>>;
  readonly controllers: readonly Controller[];
  readonly auditLog?: string | undefined;
  readonly admissionPlugins?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** Hears which component is being started: a start that takes long should say what it waits for. */
  readonly announce?: (component: string) => void;
}

export interface ControlPlane {
  readonly site: Site;
  readonly pki: Pki;
  /** In the order of their start. */
  readonly components: readonly Component[];
  /** Writes pki/NAME.kubeconfig: the server as it is seen inside, and a user of that name. Answers with the path. */
  kubeconfigInside(name: string, user: CertificateRequest): Promise<string>;
}

/** Resolves when every component answers. What was started is not stopped on failure: the caller gives up the whole cluster. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { directory, ground, binaries, auditLog, admissionPlugins } = options;
  const pki = await createPki(directory, apiServerHosts(ground.address));
  const store = await start(etcd(binaryOf(binaries, "etcd"), ground.place, directory), options);
  const { site, server } = await ground.settle(async (at) => {
    const binary = binaryOf(binaries, "kube-apiserver");
    const spec = await apiServer({ binary, site: at, pki, directory, auditLog, admissionPlugins });
    return { site: at, server: await start(spec, options) };
  });
  await writeAdminKubeconfig(directory, site, pki);
  // Not called a kubeconfig, lest somebody find and use it on the host: what is sent to an address of the inside from there
  // leaves the machine.
  const kubeconfigInside: ControlPlane["kubeconfigInside"] = (name, user) =>
    writeKubeconfig(join(directory.pki, `${name}.inside-only`), {
      ...{ name: user.commonName, server: serverInside(site) },
      ...{ authority: pki.authority.certificate, user: pki.authority.issue(user) },
    });
  const controllers = await Promise.all(
    options.controllers.map((name) => startController(name, { ...options, site, pki, kubeconfigInside })),
  );
  return { site, pki, components: [store, server, ...controllers], kubeconfigInside };
}

type Standing = ControlPlaneOptions & Pick<ControlPlane, "site" | "pki" | "kubeconfigInside">;

async function startController(name: Controller, standing: Standing): Promise<Component> {
  const { site, pki } = standing;
  const kubeconfig = await standing.kubeconfigInside(name, { commonName: `system:${name}` });
  return withFreePort((port) => {
    const options = { binary: binaryOf(standing.binaries, name), site, kubeconfig, port };
    return start(
      name === "kube-scheduler" ? scheduler(options) : controllerManager({ ...options, pki, data: standing.directory.data }),
      standing,
    );
  });
}

function start(spec: ComponentSpec, { directory, signal, announce }: ControlPlaneOptions): Promise<Component> {
  announce?.(spec.name);
  return startComponent(signal === undefined ? spec : { ...spec, signal }, directory);
}

/** For people and tests, on the host; member of the group that may do anything. */
async function writeAdminKubeconfig(directory: ClusterDirectory, site: Site, pki: Pki): Promise<void> {
  const user = pki.authority.issue({ commonName: "admin", organizations: ["system:masters"] });
  const name = `localcluster-${directory.name}`;
  await writeKubeconfig(directory.kubeconfig, { name, server: serverOnHost(site), authority: pki.authority.certificate, user });
}

function binaryOf(binaries: ControlPlaneOptions["binaries"], name: BinaryName): string {
  const path = binaries[name];
  if (path === undefined) throw new TypeError(`the caller found no binary of ${name}`);
  return path;
}

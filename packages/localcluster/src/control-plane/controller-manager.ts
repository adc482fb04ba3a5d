// The controllers of Kubernetes itself: deployments, garbage collection, namespaces, service accounts and all the rest.
import { join } from "node:path";
import type { ComponentSpec } from "../process/component.ts";
import { answersInside } from "../process/probe.ts";
import type { Pki } from "./pki.ts";
import type { Site } from "./site.ts";

export interface ControllerOptions {
  readonly binary: string;
  readonly site: Site;
  /** Of its own user, naming the server inside. */
  readonly kubeconfig: string;
  /** Where it says that it is well. Nobody else needs to know. */
  readonly port: number;
}

export function controllerManager({
  binary,
  site,
  kubeconfig,
  port,
  pki,
  data,
}: ControllerOptions & { readonly pki: Pki; readonly data: string }): ComponentSpec {
  const argv = [
    binary,
    ...commonFlags(kubeconfig, port),
    // Each controller as its own service account, with its own rights: as in production.
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${pki.serviceAccountKey}`,
    `--root-ca-file=${pki.authorityFiles.certificate}`,
    `--cluster-signing-cert-file=${pki.authorityFiles.certificate}`,
    `--cluster-signing-key-file=${pki.authorityFiles.key}`,
    // It makes this folder; by default below /usr/libexec, where it would outlive the cluster.
    `--flex-volume-plugin-dir=${join(data, "flex-volumes")}`,
  ];
  return { name: "kube-controller-manager", argv, place: site.place, ready: answersInside(site.place, port), graceMs: 500 };
}

/** What the controller manager and the scheduler have in common. */
export function commonFlags(kubeconfig: string, port: number): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    // There is only one of each: an election would cost seconds, and 15 s more after every restart.
    "--leader-elect=false",
    // Twenty requests a second, the default, is a production courtesy that only makes tests wait.
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
    "--profiling=false",
  ];
}

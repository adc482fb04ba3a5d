import type { ComponentSpec } from "../process/component.ts";
import { answersInside } from "../process/probe.ts";
import { type ControllerOptions, commonFlags } from "./controller-manager.ts";

/** Puts pods on nodes; started only where there are nodes. */
export function scheduler({ binary, site, kubeconfig, port }: ControllerOptions): ComponentSpec {
  const argv = [binary, ...commonFlags(kubeconfig, port)];
  return { name: "kube-scheduler", argv, place: site.place, ready: answersInside(site.place, port), graceMs: 500 };
}

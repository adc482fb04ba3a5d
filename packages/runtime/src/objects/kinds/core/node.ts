import type { Kind, KubernetesObject } from "../../object.ts";
import type { Condition, ResourceList, Time } from "../common.ts";
import { clusterKind } from "../kind.ts";

/** A machine: `v1` `nodes`. */
export interface Node extends KubernetesObject {
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}
export const Node: Kind<Node> = clusterKind("v1", "Node", "nodes");

export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly timeAdded?: Time;
}

export interface NodeStatus {
  readonly capacity?: ResourceList;
  /** What is left for pods once the system has had its share. */
  readonly allocatable?: ResourceList;
  readonly conditions?: readonly NodeCondition[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
  readonly nodeInfo?: NodeSystemInfo;
  readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
  readonly features?: Readonly<Record<string, boolean>>;
}

/** Types in use: Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable. */
export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: Time;
}

export interface NodeSystemInfo {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly systemUUID: string;
}

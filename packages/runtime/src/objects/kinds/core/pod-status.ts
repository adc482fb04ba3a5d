import type { Condition, ResourceList, ResourceRequirements, Time } from "../common.ts";

export interface PodStatus {
  /** The generation of the spec that the rest of the status speaks of (since 1.33; alpha before). */
  readonly observedGeneration?: number;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: "Guaranteed" | "Burstable" | "BestEffort";
  /** How a resize went, until 1.32; later clusters say it in conditions. */
  readonly resize?: "Proposed" | "InProgress" | "Deferred" | "Infeasible" | "";
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: Time;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly nominatedNodeName?: string;
  readonly resourceClaimStatuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[];
}

/** Types in use: PodScheduled, Initialized, ContainersReady, Ready, DisruptionTarget, PodResizePending, PodResizeInProgress, … */
export interface PodCondition extends Condition {
  readonly lastProbeTime?: Time | null;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  readonly imageID?: string;
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  /** How it ended last time; an OOM kill of a container that runs again is found here. */
  readonly lastState?: ContainerState;
  /** What the node admitted; the spec is what is desired. */
  readonly allocatedResources?: ResourceList;
  /** What is in force. */
  readonly resources?: ResourceRequirements;
  readonly allocatedResourcesStatus?: readonly { readonly name: string; readonly resources?: readonly unknown[] }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly user?: {
    readonly linux?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: readonly number[] };
  };
  readonly stopSignal?: string;
}

/** At most one is set; none means waiting. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: Time };
  readonly terminated?: ContainerStateTerminated;
}

export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  /** "OOMKilled", "Error", "Completed", … */
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: Time;
  readonly finishedAt?: Time;
  readonly containerID?: string;
}

import type { LocalObjectReference, QuantityText, ResourceRequirements } from "../common.ts";
import type { Probe, ProbeHandler } from "./probe.ts";
import type { ContainerSecurityContext } from "./security-context.ts";

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  /** Only init containers have one of their own until 1.34; "Always" makes a sidecar of them. */
  readonly restartPolicy?: "Always" | "Never" | "OnFailure";
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath: string }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly securityContext?: ContainerSecurityContext;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "File" | "FallbackToLogsOnError";
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

/** Added to a running pod for debugging; never restarted, never resized. */
export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}

export interface EnvVarSource {
  readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string };
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly configMapKeyRef?: KeySelector;
  readonly secretKeyRef?: KeySelector;
  readonly fileKeyRef?: { readonly volumeName: string; readonly path: string; readonly key: string; readonly optional?: boolean };
}

export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: LocalObjectReference & { readonly optional?: boolean };
  readonly secretRef?: LocalObjectReference & { readonly optional?: boolean };
}

/** One key of a ConfigMap or Secret. */
export interface KeySelector {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: QuantityText;
}

/** What a change of this resource does to the running container. */
export interface ContainerResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: "NotRequired" | "RestartContainer";
}

export interface ContainerRestartRule {
  readonly action: string;
  readonly exitCodes?: { readonly operator: "In" | "NotIn"; readonly values?: readonly number[] };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: "Disabled" | "IfPossible" | "Enabled";
  readonly mountPropagation?: "None" | "HostToContainer" | "Bidirectional";
}

export interface Lifecycle {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?: string;
}

export interface LifecycleHandler extends Pick<ProbeHandler, "exec" | "httpGet" | "tcpSocket"> {
  readonly sleep?: { readonly seconds: number };
}

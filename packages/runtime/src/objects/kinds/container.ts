import type { PersistentVolumeClaimSpec } from "./core.ts";
import type { IntOrString, LocalObjectReference, QuantityText, ResourceRequirements, TemplateMeta } from "./kind.ts";

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
  /** Before 1.34, only init containers have a restart policy; "Always" makes one a sidecar. */
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

/** Added to a running pod for debugging. It is never restarted or resized. */
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

/** Whether a resize of this resource restarts the container. */
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

/** Exactly one of these fields is set. */
export interface ProbeHandler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: { readonly port: IntOrString; readonly host?: string };
  readonly grpc?: { readonly port: number; readonly service?: string };
}

export interface HttpGetAction {
  readonly path?: string;
  readonly port: IntOrString;
  readonly host?: string;
  readonly scheme?: "HTTP" | "HTTPS";
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
}

export interface Probe extends ProbeHandler {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

/** The fields that pods and containers have in common. */
interface SharedSecurityContext {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly seLinuxOptions?: { readonly user?: string; readonly role?: string; readonly type?: string; readonly level?: string };
  readonly seccompProfile?: SecurityProfile;
  readonly appArmorProfile?: SecurityProfile;
  readonly windowsOptions?: Readonly<Record<string, unknown>>;
}

export interface SecurityProfile {
  readonly type: "RuntimeDefault" | "Localhost" | "Unconfined";
  readonly localhostProfile?: string;
}

export interface PodSecurityContext extends SharedSecurityContext {
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: "OnRootMismatch" | "Always";
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly seLinuxChangePolicy?: "MountOption" | "Recursive";
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
}

export interface ContainerSecurityContext extends SharedSecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly procMount?: "Default" | "Unmasked";
}

/** A volume has a name and exactly one source. Rarely used sources are typed as `unknown`. */
export interface Volume {
  readonly name: string;
  readonly configMap?: ConfigMapVolumeSource;
  readonly secret?: SecretVolumeSource;
  readonly emptyDir?: { readonly medium?: "" | "Memory" | (string & {}); readonly sizeLimit?: QuantityText };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: { readonly metadata?: TemplateMeta; readonly spec: PersistentVolumeClaimSpec };
  };
  readonly projected?: { readonly defaultMode?: number; readonly sources?: readonly VolumeProjection[] };
  readonly downwardAPI?: { readonly defaultMode?: number; readonly items?: readonly DownwardApiFile[] };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly csi?: CsiVolumeSource;
  readonly nfs?: { readonly server: string; readonly path: string; readonly readOnly?: boolean };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: "Always" | "IfNotPresent" | "Never" };
  readonly [source: string]: unknown;
}

/** Maps a key to a file. */
export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface ConfigMapVolumeSource {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}

export interface SecretVolumeSource {
  readonly secretName?: string;
  readonly items?: readonly KeyToPath[];
  readonly defaultMode?: number;
  readonly optional?: boolean;
}

export interface DownwardApiFile {
  readonly path: string;
  readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string };
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}

export interface VolumeProjection {
  readonly configMap?: Omit<ConfigMapVolumeSource, "defaultMode">;
  readonly secret?: Omit<ConfigMapVolumeSource, "defaultMode">;
  readonly downwardAPI?: { readonly items?: readonly DownwardApiFile[] };
  readonly serviceAccountToken?: { readonly path: string; readonly audience?: string; readonly expirationSeconds?: number };
  readonly clusterTrustBundle?: Readonly<Record<string, unknown>>;
  readonly podCertificate?: Readonly<Record<string, unknown>>;
}

export interface CsiVolumeSource {
  readonly driver: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly nodePublishSecretRef?: LocalObjectReference;
}

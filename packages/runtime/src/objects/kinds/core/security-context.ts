/** What a pod and a container may both say. */
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

// The Kubernetes versions that localcluster can start. A patch version is listed if all of its modules are on the Go module proxy, which
// is not the case for many.
import { UnknownVersionError } from "./errors.ts";

export interface KubernetesVersion {
  /** "1.37" */
  readonly minor: string;
  /** The release: "1.37.1". */
  readonly patch: string;
  /** The version of etcd. The same for all, so that there is less to build. */
  readonly etcd: string;
  /** The oldest Go that builds it and its etcd. */
  readonly go: string;
}

/** Newest first. 1.32 has no in-place resize of pods, so operators can be tested with and without it. */
export const supportedVersions: readonly KubernetesVersion[] = [
  { minor: "1.37", patch: "1.37.1", etcd: "3.7.3", go: "1.26" },
  { minor: "1.36", patch: "1.36.1", etcd: "3.7.3", go: "1.26" },
  { minor: "1.32", patch: "1.32.2", etcd: "3.7.3", go: "1.26" },
];

/** The version of Helm, which supports every version of Kubernetes in the table. */
export const helmVersion = "4.3.1";

/** What `startCluster()` starts by default. */
export const defaultVersion = "1.37";

/**
 * The row of the table for "1.37", "v1.37", "1.37.1" or "v1.37.1".
 *
 * @throws {UnknownVersionError} which lists the supported versions.
 */
export function resolveVersion(text: string = defaultVersion): KubernetesVersion {
  const plain = text.trim().replace(/^v/, "");
  const row = supportedVersions.find(({ minor, patch }) => plain === minor || plain === patch);
  if (row === undefined)
    throw new UnknownVersionError(
      text,
      supportedVersions.map(({ minor, patch }) => `${minor} (${patch})`),
    );
  return row;
}

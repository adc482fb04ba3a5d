// The Kubernetes versions that localcluster can start. A small table, on purpose: a row gets in when every module of its patch
// version is on the Go module proxy, which is not so for many patch versions.
import { UnknownVersionError } from "./errors.ts";

export interface KubernetesVersion {
  /** What people call it: "1.37". */
  readonly minor: string;
  /** The release behind the name: "1.37.1". */
  readonly patch: string;
  /** The etcd that keeps its objects. One for all: fewer things to make, and the oldest and the newest API server run on it. */
  readonly etcd: string;
  /** The oldest Go that builds it, and the etcd of its row. */
  readonly go: string;
}

/** Newest first. 1.32 is here because it has no in-place resize of pods, so both roads of an operator can be tested. */
export const supportedVersions: readonly KubernetesVersion[] = [
  { minor: "1.37", patch: "1.37.1", etcd: "3.7.3", go: "1.26" },
  { minor: "1.36", patch: "1.36.1", etcd: "3.7.3", go: "1.26" },
  { minor: "1.32", patch: "1.32.2", etcd: "3.7.3", go: "1.26" },
];

/** The Helm that installs charts: one for all, for it speaks to every Kubernetes of the table. */
export const helmVersion = "4.3.1";

/** What `startCluster()` starts when nobody says otherwise. */
export const defaultVersion = "1.37";

/**
 * The row of the table that a person means by "1.37", "v1.37", "1.37.1" or "v1.37.1".
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

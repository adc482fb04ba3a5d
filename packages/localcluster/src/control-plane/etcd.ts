// etcd listens on a unix socket: no port that could be taken, nobody else who could connect, and a health check that
// reaches it through any network namespace.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ComponentSpec } from "../process/component.ts";
import type { Place } from "../process/place.ts";
import type { ClusterDirectory } from "../state/directory.ts";
import { statusOf } from "./status-of.ts";

/** What --etcd-servers of the API server says. */
export const etcdUrl = ({ run }: ClusterDirectory): string => `unix://${join(run, "etcd")}`;

export function etcd(binary: string, place: Place, directory: ClusterDirectory): ComponentSpec {
  const client = etcdUrl(directory);
  const peer = `unix://${join(directory.run, "etcd-peer")}`;
  const argv = [
    binary,
    "--name=etcd",
    `--data-dir=${join(directory.data, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
    // What a power cut would lose is thrown away at the end anyway.
    "--unsafe-no-fsync",
    // Tests that make many objects should not run into 2 GiB, nor keep the disk for history.
    "--quota-backend-bytes=8589934592",
    "--snapshot-count=10000",
    "--log-level=warn",
  ];
  const socketPath = join(directory.run, "etcd");
  const ready = async (signal: AbortSignal) => {
    while ((await statusOf({ socketPath, path: "/readyz", signal })) !== 200) await sleep(20, undefined, { signal });
  };
  return { name: "etcd", argv, place, ready, graceMs: 500 };
}

// The official release, downloaded and held against its published SHA-256.
//
//     https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kube-apiserver (.sha256)
//     https://github.com/etcd-io/etcd/releases/download/v3.7.3/etcd-v3.7.3-linux-amd64.tar.gz (SHA256SUMS)
//     https://get.helm.sh/helm-v4.3.1-linux-amd64.tar.gz (.sha256sum)
//
// A mirror (LOCALCLUSTER_RELEASE_URL) serves all below one address: <mirror>/v1.37.1/bin/…, <mirror>/v3.7.3/etcd-…, <mirror>/helm-….
// The checksum is asked for first: it is small, so a machine without a way out learns that quickly.
import { join } from "node:path";
import { ChecksumError, DownloadError, reasonOf } from "../errors.ts";
import { type Binary, describe } from "./binary.ts";
import { run } from "./command.ts";
import type { Search } from "./search.ts";

/** Downloads the binary into this folder; returns its path there. */
export function downloadRelease(binary: Binary, folder: string, search: Search): Promise<string> {
  if (binary.project === "kubernetes") return downloadKubernetes(binary, folder, search);
  return downloadArchived(
    binary,
    binary.project === "etcd" ? etcdArchive(binary, search) : helmArchive(binary, search),
    folder,
    search,
  );
}

async function downloadKubernetes(binary: Binary, folder: string, search: Search): Promise<string> {
  const site = search.mirror ?? "https://dl.k8s.io/release";
  const url = `${site}/v${binary.version}/bin/linux/${search.architecture}/${binary.name}`;
  return downloadVerified(binary, { url, sums: `${url}.sha256`, to: join(folder, binary.name) }, search);
}

interface Archive {
  readonly url: string;
  /** Where its checksum is. */
  readonly sums: string;
  /** The path of the binary in it. */
  readonly member: string;
}

function etcdArchive({ version }: Binary, { mirror, architecture }: Search): Archive {
  const folder = `${mirror ?? "https://github.com/etcd-io/etcd/releases/download"}/v${version}`;
  const stem = `etcd-v${version}-linux-${architecture}`;
  return { url: `${folder}/${stem}.tar.gz`, sums: `${folder}/SHA256SUMS`, member: `${stem}/etcd` };
}

function helmArchive({ version }: Binary, { mirror, architecture }: Search): Archive {
  const url = `${mirror ?? "https://get.helm.sh"}/helm-v${version}-linux-${architecture}.tar.gz`;
  return { url, sums: `${url}.sha256sum`, member: `linux-${architecture}/helm` };
}

async function downloadArchived(binary: Binary, archive: Archive, folder: string, search: Search): Promise<string> {
  const { url, sums, member } = archive;
  const { env, signal } = search;
  const to = join(folder, "archive.tar.gz");
  await downloadVerified(binary, { url, sums, to }, search);
  // Not the owner of the archive: root's tar would hand the file to whatever user has that number here.
  const extract = ["-xzf", to, "-C", folder, "--no-same-owner", "--strip-components=1", member];
  await run("tar", extract, { env, signal }).catch((error) => {
    signal?.throwIfAborted();
    throw new DownloadError(url, `cannot be unpacked: ${reasonOf(error)}`, error);
  });
  return join(folder, binary.name);
}

interface Source {
  readonly url: string;
  /** Where the checksum of that file is. */
  readonly sums: string;
  readonly to: string;
}

async function downloadVerified(binary: Binary, { url, sums, to }: Source, { downloads, progress }: Search): Promise<string> {
  const expected = checksumIn(await downloads.text(sums), url, sums);
  const found = await progress.during(`downloading ${describe(binary)}`, (detail) => downloads.file(url, to, detail));
  if (found !== expected) throw new ChecksumError(url, expected, found);
  return to;
}

/** The checksum of this file in a text of "<sum>  <file>" lines, or in one that is nothing but a checksum. */
function checksumIn(text: string, url: string, sums: string): string {
  const file = url.slice(url.lastIndexOf("/") + 1);
  const lines = text.trim().split("\n");
  const line = lines.find((each) => each.trim().endsWith(file)) ?? (lines.length === 1 ? lines[0] : undefined);
  const sum = /^[0-9a-f]{64}(?=\s|$)/i.exec(line?.trim() ?? "")?.[0];
  if (sum === undefined)
    throw new DownloadError(sums, `has no SHA-256 of ${file}; it begins ${JSON.stringify(text.slice(0, 40))}`);
  return sum.toLowerCase();
}

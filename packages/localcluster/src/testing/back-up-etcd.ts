// A cluster that goes back in time, as one that is restored from a backup does.
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { clusterDirectory } from "../state/directory.ts";

/** Copies what etcd has on disk; the answer puts it back, as often as it is called. etcd has to be stopped each time. */
export async function backUpEtcd({ name }: { readonly name: string }): Promise<() => Promise<void>> {
  const { data } = clusterDirectory(name);
  const [there, copy] = [join(data, "etcd"), join(data, "etcd-backup")];
  await cp(there, copy, { recursive: true });
  return async () => {
    await rm(there, { recursive: true });
    await cp(copy, there, { recursive: true });
  };
}

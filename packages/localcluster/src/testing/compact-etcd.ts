// Makes a cluster forget its past, as the API server does every five minutes: no test waits that long.
import { request } from "node:http";
import { join } from "node:path";
import { LocalClusterError } from "../errors.ts";
import { clusterDirectory } from "../state/directory.ts";

/**
 * Lets etcd forget how things were before this resourceVersion. An API server that runs still remembers some of it, until it is
 * started again. Only for a cluster of one's own: whoever shares it may be in the middle of a list.
 */
export function compactEtcd({ name }: { readonly name: string }, resourceVersion: string): Promise<void> {
  const socketPath = join(clusterDirectory(name).run, "etcd");
  return new Promise((done, fail) => {
    const call = request({ socketPath, path: "/v3/kv/compaction", method: "POST", agent: false }, async (answer) => {
      const text = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString();
      if (answer.statusCode === 200) done();
      else fail(new LocalClusterError("ETCD_REFUSED", `expected etcd to compact, found ${answer.statusCode}: ${text}`));
    });
    call.on("error", fail);
    call.end(JSON.stringify({ revision: resourceVersion, physical: true }));
  });
}

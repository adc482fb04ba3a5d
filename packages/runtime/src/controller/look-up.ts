// What the server has under a name, now. Asked by a list of one, which whoever caches a kind may do anyway: a get would be one more
// right for every kind that is written. The server finds a single name without walking the others.
import type { Client } from "../client/client.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";

export async function lookUp(
  client: Pick<Client, "list">,
  kind: Kind,
  { namespace, name }: ObjectRef,
  signal: AbortSignal,
): Promise<Stored<KubernetesObject> | undefined> {
  const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`; // the names of Roles may contain nearly everything
  const { items } = await client.list(kind, { namespace, fieldSelector, signal });
  return items[0];
}

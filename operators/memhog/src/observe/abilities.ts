// What this cluster can do. In place is asked for, not guessed from a version: it may be on, off or backported. The client keeps
// the answers for some minutes, so this costs nothing, and an upgrade is noticed.
import { type Discovery, Pod } from "@memhog/runtime";
import type { ClusterAbilities } from "../model/seen.ts";

/** Before, a container that was already OOMKilled got its memory but not its pod, and kept dying. */
const resizeAfterOomKillSince = 37;

export async function abilitiesOf(
  discovery: Pick<Discovery, "hasSubresource" | "version">,
  signal: AbortSignal,
): Promise<ClusterAbilities> {
  const [inPlace, { major, minor }] = await Promise.all([
    discovery.hasSubresource(Pod, "resize", { signal }),
    discovery.version({ signal }),
  ]);
  return { inPlace, resizeAfterOomKill: inPlace && (major > 1 || minor >= resizeAfterOomKillSince) };
}

// Images, as containerd speaks of them. None is ever pulled: an image is there, or takes a while, or cannot be had, as the
// test says; unless told otherwise every image is there.
import { createHash } from "node:crypto";

export interface PullOutcome {
  /** Milliseconds that it takes. @default 0: it is there already */
  readonly tookMs?: number;
  /** Why it cannot be had: it never will be. */
  readonly error?: string;
}

/** What becomes of pulling an image. Undefined: it is there already. */
export type Pull = (image: string) => PullOutcome | undefined;

/** What containerd says about an image that no registry has. */
export function notFound(image: string): PullOutcome {
  const name = canonicalImage(image);
  return {
    error: `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
  };
}

/** "busybox" → "docker.io/library/busybox:latest". */
export function canonicalImage(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const named = hasRegistry ? image : `docker.io/${rest.length > 0 ? "" : "library/"}${image}`;
  const last = named.slice(named.lastIndexOf("/") + 1);
  return /[:@]/.test(last) ? named : `${named}:latest`;
}

export function imageId(image: string): string {
  return `sha256:${createHash("sha256").update(canonicalImage(image)).digest("hex")}`;
}

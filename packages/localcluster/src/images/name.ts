/**
 * The name of an image with all that is usually left out, as containerd and the kubelet know it:
 * "memhog" → "docker.io/library/memhog:latest", "ghcr.io/you/memhog:1" as it is.
 */
export function fullName(name: string): string {
  const [first = "", ...rest] = name.split("/");
  // A first part with a dot, a port, or "localhost" is a registry; anything else is a user of Docker's.
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? name : `docker.io/${rest.length === 0 ? "library/" : ""}${name}`;
  return path.split("/").at(-1)?.includes(":") ? path : `${path}:latest`;
}

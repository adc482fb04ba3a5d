import { expect, it } from "vitest";
import { fullName } from "./name.ts";

it.each([
  ["memhog", "docker.io/library/memhog:latest"],
  ["memhog:dev", "docker.io/library/memhog:dev"],
  ["you/memhog:dev", "docker.io/you/memhog:dev"],
  ["ghcr.io/you/memhog:1", "ghcr.io/you/memhog:1"],
  ["localhost/memhog", "localhost/memhog:latest"],
  ["localhost:5000/memhog", "localhost:5000/memhog:latest"],
  ["docker.io/library/memhog:dev", "docker.io/library/memhog:dev"],
])("%s is %s in full", (name, full) => expect(fullName(name)).toBe(full));

// Writes docs/reference.    node operators/memhog/src/reference/write.ts
import { join } from "node:path";
import { writeManifests } from "@memhog/kit";
import { referenceFiles } from "./reference.ts";

export const docs = join(import.meta.dirname, "../../../../docs");

if (import.meta.main) {
  const changed = await writeManifests(join(docs, "reference"), referenceFiles());
  console.log(`docs/reference: ${changed.join(", ") || "nothing to change"}`);
}

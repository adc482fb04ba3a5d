// Entry point for tests, benchmarks and the demo: the hog as an image and as a pod. The program itself is main.ts; the parser of its
// flags is exported as `@memhog/hog/options`.
import { join } from "node:path";

export { type HogImageOptions, type HogPodOptions, hogImage, hogImageName, hogPod, loadHog } from "./image.ts";

/** Paths of the manifests, for `kubectl apply -f`. */
export const hogManifests = {
  deployment: join(import.meta.dirname, "../deploy/deployment.yaml"),
  pod: join(import.meta.dirname, "../deploy/pod.yaml"),
} as const;

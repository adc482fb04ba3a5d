// The door for tests, benches and the demo: the hog as an image and as a pod, and what its flags mean. The program itself is main.ts.
import { join } from "node:path";

export { type HogImageOptions, hogImage, hogImageName, loadHog } from "./image.ts";
export { planOf } from "./options.ts";
export { type HogPodOptions, hogPod } from "./pod.ts";

/** The manifests of the seeds, as files: for `kubectl apply -f`. */
export const hogManifests = {
  deployment: join(import.meta.dirname, "../deploy/deployment.yaml"),
  pod: join(import.meta.dirname, "../deploy/pod.yaml"),
} as const;

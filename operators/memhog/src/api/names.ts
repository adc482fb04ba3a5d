// Names that people write on their objects, and names that memhog writes on them.
export const group = "kubedemo.com";

/** On a pod (or in a pod template): "true" asks memhog to monitor it, "false" stops memhog before its next write. */
export const monitorAnnotation = "app-monitor.kubedemo.com/monitor";
/**
 * On the larger copy of a bare pod: the name of its app, which is that of the first original. memhog writes it on the copies it creates,
 * and believes it only on pods that it recorded (observe/app-of.ts).
 */
export const appAnnotation = "app-monitor.kubedemo.com/app";
/** On the larger copy of a bare pod: the UID of the pod it replaces. A label, so that the copy can be selected by it. */
export const copyOfLabel = "app-monitor.kubedemo.com/copy-of";

/** The field manager of server-side apply, and the reporting controller of Events. */
export const operatorName = "memhog-operator";

/** What makes remote backends of adapters: defaults for what one does not have, and its factory. */
import { backendError } from "../domain/backend/backend-error.ts";
import { remoteStatelessText } from "../domain/backend/capabilities.ts";
import { type DeclaredBackend, declaredEndpoint, type RemoteEndpoint } from "../domain/backend/endpoint.ts";
import type { BackendFactory, ConfiguredBackend, RemoteBackend } from "../ports/backend.ts";

/** A backend with what it has; the rest refuses, or has nothing to do. */
export function remoteBackend(name: string, has: Partial<Omit<RemoteBackend, "name">>): RemoteBackend {
  return {
    name,
    capabilities: remoteStatelessText,
    executeRoot: async () => {
      throw backendError("backend-execution-failed", "backend does not support root execution");
    },
    executeDelegate: async () => {
      throw backendError("backend-execution-failed", "backend does not support delegated execution");
    },
    look: async () => ({ kind: "unknown", why: `Backend ${name} cannot look a task up` }),
    abort: async () => undefined,
    ...has,
  };
}

/** Its `validate` builds and throws the backend away, so it says exactly what `build` would. */
export function backendFactory(name: string, build: (endpoint: RemoteEndpoint) => RemoteBackend): BackendFactory {
  return { name, build, validate: (endpoint) => void build(endpoint) };
}

/** What `agent({ backend })` takes. An endpoint that cannot be built is refused here, before there is an agent. */
export function configuredBackend(factory: BackendFactory, endpoint: RemoteEndpoint): ConfiguredBackend {
  factory.validate(endpoint);
  return { name: factory.name, endpoint: declaredEndpoint(endpoint), build: () => factory.build(endpoint) };
}

/** Builds what a stored manifest declares, where a factory of that name is here and takes the endpoint as it was. */
export function backendMaker(
  factories: readonly BackendFactory[] = [],
): (declared: DeclaredBackend) => ConfiguredBackend | undefined {
  return ({ name, endpoint }) => {
    const factory = factories.find((each) => each.name === name);
    const { auth: _auth, ...rest } = endpoint;
    try {
      return factory && configuredBackend(factory, { backend: name, ...rest });
    } catch {
      return undefined; // an option that this version does not know any more
    }
  };
}

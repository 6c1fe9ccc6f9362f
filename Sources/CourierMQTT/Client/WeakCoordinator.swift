/// A weak reference from a part of a client to the coordinator that owns the part.
///
/// Safe to share between threads: the reference is set before the app receives the client, and is read on the loop
/// only.
final class WeakCoordinator: @unchecked Sendable {
    weak var coordinator: ClientCoordinator?

    init() {}
}

/// The way back from a part to the coordinator that owns it, without keeping it alive.
///
/// Safe to share: set before the client is handed out, and read on the loop only.
final class WeakCoordinator: @unchecked Sendable {
    weak var coordinator: ClientCoordinator?

    init() {}
}

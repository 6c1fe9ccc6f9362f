import MQTTCodec
import Synchronization

/// A mistake that is planted between the client and the broker, to prove that a walk finds it.
final class WalkFault: Sendable {
    enum Kind: CaseIterable, Sendable {
        /// The third PUBLISH is sent twice.
        case repeatsPublish
        /// The third PUBLISH is lost, and the connection stays open.
        case losesPublish
    }

    private let kind: Kind
    private let count = Atomic(0)

    init(_ kind: Kind) { self.kind = kind }

    /// Returns the number of times that the broker receives `publish`.
    func copies(of publish: Publish) -> Int {
        guard count.add(1, ordering: .relaxed).newValue == 3 else { return 1 }
        return kind == .repeatsPublish ? 2 : 0
    }
}

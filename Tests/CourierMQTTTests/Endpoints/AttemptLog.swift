import CourierCore
import Synchronization

@testable import CourierMQTT

/// Where a client's attempts went, by the options that their events carry.
final class AttemptLog: Sendable {
    private let link: Link
    private let subscription: AnyCancellable

    init(_ test: TestClient) {
        let link = Link()
        self.link = link
        subscription = test.client.eventPublisher.sink { event in
            guard case .connectionAttempt = event.type, let info = event.connectionInfo else { return }
            link.log.withLock { $0.append(info.endpointName) }
        }
    }

    private final class Link: Sendable {
        let log = Mutex<[String]>([])
    }

    /// Such as `127.0.0.1:1883`, in order.
    var targets: [String] { link.log.withLock { $0 } }
}

import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// What a client with a message store does beyond one without: the session's rows, from the process before to the one
/// after.
///
/// Safe to share: everything is touched on the client's loop only, which each entry checks.
final class DurableSession: @unchecked Sendable {
    let outbox: DurableOutbox
    let inbox: DurableInbox
    /// The steps of deliveries: they free rows, and wait for nothing that needs one.
    let steps: StoreLane
    /// What the client wants to be subscribed to.
    let wishes: StoreLane

    private let store: any MessageStore
    private let loop: EventLoop
    /// Whose rows they are; known from the first attempt to read them on.
    private var scope: StoreScope?
    /// Whether the rows of an earlier process have been read.
    private(set) var isOpen = false
    /// What the session is to go on with, until its first connection.
    private var unfinished: (messages: [ClientEngine.UnfinishedMessage], incoming: Set<UInt16>)?
    private var reading: Task<Void, Never>?

    init(
        _ store: any MessageStore, outbox: DurableOutbox, inbox: DurableInbox, steps: StoreLane, wishes: StoreLane,
        on loop: EventLoop
    ) {
        self.store = store
        self.outbox = outbox
        self.inbox = inbox
        self.steps = steps
        self.wishes = wishes
        self.loop = loop
    }

    /// Reads what an earlier process left under `scope`; `done` is called on the loop.
    func read(_ scope: StoreScope, _ done: @escaping @Sendable (Result<StoredSession, CourierError>) -> Void) {
        loop.preconditionOnLoop()
        self.scope = scope
        let (store, loop) = (store, loop)
        reading = Task {
            let session: Result<StoredSession, CourierError>
            do {
                session = .success(try await StoredSession.load(scope, from: store))
            } catch {
                session = .failure(.reading(error))
            }
            loop.execute { done(session) }
        }
    }

    /// Goes on with what was read.
    func begin(_ session: StoredSession, _ scope: StoreScope) {
        loop.preconditionOnLoop()
        isOpen = true
        steps.begin(scope)
        wishes.begin(scope)
        inbox.begin(session.incomingCount, scope)
        unfinished = (outbox.begin(session, scope), session.packetIDs)
    }

    /// Gives the session what an earlier process left of it; before its first connection.
    func restore(_ driver: SessionDriver) {
        loop.preconditionOnLoop()
        guard let (messages, incoming) = unfinished else { return }
        unfinished = nil
        driver.restore(messages, incoming: incoming.compactMap { PacketID(rawValue: $0) })
    }

    /// The broker has lost the session.
    func sessionLost() {
        loop.preconditionOnLoop()
        outbox.sessionLost()
        inbox.forgetPacketIDs()
    }

    /// The app has destroyed the session: the rows go, read or not, and the next session reads its own.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        reading?.cancel()
        unfinished = nil
        steps.removeAll(error)
        wishes.removeAll(error)
        outbox.removeAll(error)
        inbox.removeAll(error)
        if let scope { store.commit([.removeAll], in: scope) { _ in } }
        scope = nil
        isOpen = false
    }

    /// The client has ended; what is stored stays.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        reading?.cancel()
        outbox.finish(error)
        inbox.finish(error)
        steps.finish(error)
        wishes.finish(error)
    }
}

extension StoreScope {
    /// The rows of a client with these options, which have its real client id: that of a template is another one for
    /// each client, so that none takes another's rows, and nobody finds them later.
    package init(_ options: ConnectOptions) {
        self.init(clientID: options.clientId, broker: "\(options.host):\(options.port)")
    }
}

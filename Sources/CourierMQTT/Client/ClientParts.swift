import CourierCore
import CourierSQLite
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Makes the parts of a client and connects them.
struct ClientParts: Sendable {
    let loop: EventLoop
    let deliveryQueue: DispatchQueue
    let waiterCount: WaiterCount
    let events: EventHub
    let state: CurrentValueSubject<ConnectionState, Never>
    let status: CurrentValueSubject<ConnectionStatus, Never>
    let completions: CompletionQueue
    let publishing: Publishing
    let readers: MessageReaders
    let registry: AdapterRegistry
    let tracing: MessageTracing?
    let coordinator: ClientCoordinator
    let processors: ProcessorList
    let storeClock: StoreClock
    let log: any LogHandler
    /// The message store that the client opened itself; `nil` if there is none, or if the app provides the store.
    let ownStore: ClientStore?

    /// Makes the parts for `config`. Opens no connection; opens the file of the client's own message store if the
    /// configuration needs one.
    ///
    /// - Throws: The error for a mistake in the configuration, or for a file or an event loop that cannot be opened.
    init(_ config: MQTTClientConfig) throws(CourierError) {
        let settings = try ClientSettings(config)
        let supervisor = try SupervisorConfiguration(config)
        let loop = try Self.loop(config)
        var config = config
        ownStore = try config.openStore(log: settings.log)
        self.loop = loop
        deliveryQueue = config.deliveryQueue
        waiterCount = WaiterCount()
        events = EventHub(queue: deliveryQueue) { [log = settings.log] in
            log.log(.warning, source: "events", $0)
        }
        state = CurrentValueSubject(.disconnected)
        status = CurrentValueSubject(ConnectionStatus(.disconnected))
        completions = CompletionQueue(deliveryQueue)

        let relay = WeakSessionObserver()
        let link = WeakCoordinator()
        let queue = OutgoingQueue(
            config.offline, hasStore: config.messageStore != nil,
            carriesProperties: config.protocolVersion.first >= .v5, memoryCount: config.storedMessagesInMemory)
        var engine = EngineConfiguration(connect: Connect(version: .v5, clientID: ""))
        if config.messageStore != nil { engine.acknowledgements = .onCommand }
        let driver = SessionDriver(engine, on: loop, observer: relay, outgoing: queue)
        let storeFailed: (CourierError) -> Void = { link.coordinator?.tell(.messageStoreFailure(error: $0)) }
        let epoch = { queue.sessionEpoch }
        // The number of commit queues (`StoreCommitQueue`) that have not ended. After the last queue has ended, nothing
        // uses the client's own store, so the store is released.
        var laneCount = 0
        let lane = { [ownStore] (store: any MessageStore) in
            laneCount += 1
            return StoreCommitQueue(
                store, on: loop, epoch: epoch, failed: storeFailed,
                ended: {
                    laneCount -= 1
                    if laneCount == 0 { ownStore?.finish() }
                })
        }
        let steps = config.messageStore.map(lane)
        let store = Self.outgoingStore(config, settings, steps, queue, on: loop, link, failed: storeFailed)
        let results = PublishResults(queue, events, completions) { store?.ended($0) }
        publishing = Publishing(
            driver, store: store, texts: settings.texts,
            tracing: config.protocolVersion.first >= .v5 ? config.environment.tracing : nil,
            registry: settings.registry,
            results: results, waiterCount: waiterCount,
            watchExpiry: { loop.execute { link.coordinator?.scheduleExpiry() } })
        let durable = Self.durableSession(
            config, store, steps, lane, limit: settings.maximumKept, on: loop, epoch: epoch, failed: storeFailed,
            began: { link.coordinator?.storeOpened($0) })
        let acknowledgements = AcknowledgementInbox(driver, rows: durable?.inbox, on: loop)
        let distributor = MessageDistributor(
            on: loop, events: events, timeToKeep: settings.timeToKeep, maximumKept: settings.maximumKept,
            rows: durable?.inbox,
            MessageDistributor.Dependencies(
                setReadingPaused: { isPaused in
                    driver.setReadingPaused(isPaused)
                    link.coordinator?.readingChanged(isPaused: isPaused)
                },
                isReadingPaused: { driver.isReadingPaused },
                acknowledge: { acknowledgements.acknowledge($0) },
                awaits: { driver.awaitsAcknowledgement($0) },
                confirm: { driver.acknowledge($0) },
                finished: { acknowledgements.add($0) },
                setAcknowledgesOnCommand: { [isStored = durable != nil] in
                    driver.setAcknowledgements($0 || isStored ? .onCommand : .automatic)
                },
                subscriptions: { link.coordinator?.subscriptions },
                tell: { link.coordinator?.tell($0) },
                tellAll: { link.coordinator?.tellAll(&$0) },
                warn: { link.coordinator?.warnOfReading($0) }))
        readers = MessageReaders(
            distributor, registry: settings.registry, events: events, waiterCount: waiterCount,
            deliveryQueue: deliveryQueue, tracing: config.environment.tracing, on: loop)
        registry = settings.registry
        tracing = config.environment.tracing
        coordinator = ClientCoordinator(
            loop: loop, settings: settings, supervisor: supervisor, state: state, status: status, events: events,
            distributor: distributor, readers: readers, publishing: publishing, driver: driver, relay: relay,
            credentials: Self.credentials(config), durable: durable, link: link)
        processors = coordinator.processors
        storeClock = config.storeClock
        log = settings.log
        loop.execute { [coordinator] in relay.target = coordinator }
    }

    private static func outgoingStore(
        _ config: MQTTClientConfig, _ settings: ClientSettings, _ steps: StoreCommitQueue?, _ queue: OutgoingQueue,
        on loop: EventLoop, _ link: WeakCoordinator, failed: @escaping (CourierError) -> Void
    ) -> OutgoingStore? {
        guard let store = config.messageStore, let steps else { return nil }
        return OutgoingStore(
            store, steps: steps, on: loop,
            OutgoingStore.Dependencies(
                queue: queue,
                results: { link.coordinator?.publishing.results },
                texts: settings.texts,
                clock: config.storeClock,
                suspect: { link.coordinator?.suspect($0, strikes: $1) },
                wakeSession: { if let driver = link.coordinator?.driver { loop.enqueue(driver) } },
                watchExpiry: { link.coordinator?.scheduleExpiry() },
                failed: failed,
                rejected: { link.coordinator?.rejected($0, $1) }))
    }

    private static func durableSession(
        _ config: MQTTClientConfig, _ outgoing: OutgoingStore?, _ steps: StoreCommitQueue?,
        _ lane: (any MessageStore) -> StoreCommitQueue, limit: StoreSize, on loop: EventLoop,
        epoch: @escaping () -> Int, failed: @escaping (CourierError) -> Void,
        began: @escaping (StoredSession) -> Void
    ) -> DurableSession? {
        guard let store = config.messageStore, let outgoing, let steps else { return nil }
        let inbox = DurableInbox(
            store, limit: limit, steps: steps,
            additions: lane(store), clock: config.storeClock, on: loop, epoch: epoch, nextID: { outgoing.nextID() })
        return DurableSession(
            store, config.knownScope, outgoing: outgoing, inbox: inbox, steps: steps,
            subscriptionCommits: lane(store), on: loop, failed: failed, began: began)
    }

    private static func credentials(_ config: MQTTClientConfig) -> CredentialSource {
        switch config.provider {
        case .closures(let provider): CredentialSource(provider, on: config.deliveryQueue)
        case .asynchronous(let provider): CredentialSource(provider)
        }
    }

    private static func loop(_ config: MQTTClientConfig) throws(CourierError) -> EventLoop {
        do throws(TransportError) {
            if let group = config.environment.eventLoops { return group.next() }
            return try SharedLoops.group.get().next()
        } catch {
            throw CourierError(error)
        }
    }
}

/// The event loop group of all clients whose configuration has no event loops. The group has one thread, which starts
/// when the first of these clients is made.
private enum SharedLoops {
    static let group = Result { () throws(TransportError) -> EventLoopGroup in try EventLoopGroup() }
}

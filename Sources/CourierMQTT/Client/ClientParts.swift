import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// The parts of a client, put together.
struct ClientParts: Sendable {
    let loop: EventLoop
    let deliveryQueue: DispatchQueue
    let census: WaiterCensus
    let events: EventHub
    let state: CurrentValueSubject<ConnectionState, Never>
    let completions: CompletionQueue
    let publishing: Publishing
    let readers: MessageReaders
    let registry: AdapterRegistry
    let requests: RequestDesk
    let coordinator: ClientCoordinator

    /// Makes the parts that `config` asks for; nothing is opened yet.
    ///
    /// - Throws: What is wrong with the configuration, or that there is no event loop to be had.
    init(_ config: MQTTClientConfig) throws(CourierError) {
        let settings = try ClientSettings(config)
        if config.isMessagePersistenceEnabled {
            settings.log.log(
                .warning, source: "configuration",
                "isMessagePersistenceEnabled is set, and there is no durable store yet: messages wait in memory.")
        }
        loop = try Self.loop(config)
        deliveryQueue = config.deliveryQueue
        census = WaiterCensus()
        events = EventHub(queue: deliveryQueue)
        state = CurrentValueSubject(.disconnected)
        completions = CompletionQueue(deliveryQueue)

        let relay = SessionRelay()
        let driver = SessionDriver(
            EngineConfiguration(connect: Connect(version: .v5, clientID: "")), on: loop, observer: relay,
            outboxLimit: max(settings.offline.maximumCount, SessionDriver.defaultOutboxLimit),
            outboxByteLimit: max(settings.offline.maximumBytes, SessionDriver.defaultOutboxByteLimit))
        let link = WeakCoordinator()
        publishing = Publishing(
            settings.offline, registry: settings.registry, events: events, census: census, on: loop,
            deliver: { driver.publish($0) }, requestDrain: { [loop] in loop.execute { link.coordinator?.drain() } },
            requestExpiryCheck: { [loop] in loop.execute { link.coordinator?.scheduleExpiry() } },
            completions: completions)
        let acknowledgements = AcknowledgementInbox(driver, on: loop)
        let distributor = MessageDistributor(
            on: loop, events: events, timeToKeep: settings.timeToKeep, maximumKept: settings.maximumKept,
            MessageDistributor.Surroundings(
                setReadingPaused: { driver.setReadingPaused($0) },
                acknowledge: { acknowledgements.add($0) },
                setAcknowledgesOnCommand: { driver.setAcknowledgements($0 ? .onCommand : .automatic) },
                tell: { link.coordinator?.tell($0) }))
        readers = MessageReaders(
            distributor, registry: settings.registry, events: events, census: census, deliveryQueue: deliveryQueue,
            on: loop)
        registry = settings.registry
        requests = RequestDesk(distributor, census: census, on: loop)
        coordinator = ClientCoordinator(
            loop: loop, settings: settings, state: state, events: events, distributor: distributor, readers: readers,
            publishing: publishing, driver: driver, relay: relay,
            credentials: Self.credentials(config))
        link.coordinator = coordinator
        let (loop, coordinator) = (loop, coordinator)
        loop.execute { relay.target = coordinator }
    }

    private static func credentials(_ config: MQTTClientConfig) -> CredentialSource {
        switch config.provider {
        case .closures(let provider): CredentialSource(provider, on: config.deliveryQueue)
        case .asynchronous(let provider): CredentialSource(provider)
        }
    }

    private static func loop(_ config: MQTTClientConfig) throws(CourierError) -> EventLoop {
        do throws(TransportError) {
            if let group = config.eventLoops { return group.next() }
            return try SharedLoops.group.get().next()
        } catch {
            throw CourierError(error)
        }
    }
}

/// The loops of all clients that name none: one thread, started with the first client.
private enum SharedLoops {
    static let group = Result { () throws(TransportError) -> EventLoopGroup in try EventLoopGroup() }
}

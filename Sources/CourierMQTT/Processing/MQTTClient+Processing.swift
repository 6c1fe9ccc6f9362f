import CourierCore
import CourierTransport
import Foundation

extension MQTTClient {
    /// The limits of a processor's read buffer. The buffer contains messages that have arrived, but that the processor
    /// has not taken yet.
    private static var processorBuffer: ReadBuffer { ReadBuffer(limit: 256, byteLimit: 1 << 20, overflow: .pause) }

    func process<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest, name: String?, policy: ProcessingPolicy<Value>,
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor {
        var request = request
        (request.acknowledge, request.buffer) = (.afterProcessing, Self.processorBuffer)
        let name = try name ?? request.topic.filter(for: parts.publishing.identity).string
        if let store = parts.coordinator.durable?.inbox.store, !store.keepsJobs {
            throw CourierError(
                .invalidConfiguration,
                "The message store keeps no jobs, so the processor \(name.quoted()) cannot store its messages. "
                    + "Use a SQLiteMessageStore or a MemoryMessageStore, or implement MessageStore.keepsJobs.")
        }
        var settings = JobQueue.Settings()
        settings.concurrency = policy.concurrency
        settings.retries = policy.retries
        settings.handlerTimeout = policy.handlerTimeout
        settings.waiting = policy.waiting
        settings.parked = policy.parked
        settings.keys = policy.deduplicate.map { ($0.time, $0.maximumCount) }
        settings.isStored = parts.coordinator.durable != nil
        settings.processor = name
        let work = Processor.Work(policy, ValueDecoder(parts.registry), parts.tracing, handler)
        let processor = try parts.processors.start(name) { [settings, request] number in
            Processor(settings, number: number, work, of: self, request)
        }
        processor.start(request)
        return processor
    }

    var parked: any ParkedMessages {
        let (loop, coordinator, clock) = (parts.loop, parts.coordinator, parts.storeClock)
        return ClientParkedMessages(
            processors: parts.processors, store: coordinator.durable?.inbox.store,
            scope: {
                await withCheckedContinuation { continuation in
                    loop.execute { continuation.resume(returning: coordinator.durable?.inbox.scope) }
                }
            },
            write: { changes, scope in
                try await withCheckedThrowingContinuation { continuation in
                    loop.execute {
                        guard let inbox = coordinator.durable?.inbox, inbox.scope == scope else {
                            return continuation.resume(throwing: ClientCoordinator.destroyed)
                        }
                        inbox.changeJobs(changes) { continuation.resume(with: $0) }
                    }
                }
            },
            now: { clock.time(at: loop.clock.now) })
    }
}

extension Processor.Work {
    /// Creates the parts of a processor that depend on the type of its values.
    init<Value: Sendable>(
        _ policy: ProcessingPolicy<Value>, _ decoder: ValueDecoder<Value>, _ tracing: MessageTracing?,
        _ handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) {
        let (order, deduplication) = (policy.order.kind, policy.deduplicate)
        keys = { message in
            var orderKey: String?
            var orderOfValue: (@Sendable (Value) -> String)?
            switch order {
            case .none: break
            case .topic: orderKey = message.topic
            case .key(let key): orderOfValue = key
            }
            guard orderOfValue != nil || deduplication != nil else { return (orderKey, nil) }
            let value = try decoder.decode(message)
            return (orderOfValue?(value) ?? orderKey, deduplication?.key(value))
        }
        handle = { context in
            let value: Value
            do {
                value = try decoder.decode(context.message)
            } catch {
                return .undecodable(error)
            }
            do {
                if let tracing {
                    try await TraceContext.$current.withValue(tracing.context(of: context.message)) {
                        try await handler(value, context)
                    }
                } else {
                    try await handler(value, context)
                }
                return .handled
            } catch {
                return .failed(error)
            }
        }
    }
}

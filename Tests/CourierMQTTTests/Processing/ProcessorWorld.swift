import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// A scripted world with a processor, and the attempts of its handler.
struct ProcessorWorld: Sendable {
    struct Attempt: Hashable, Sendable {
        let text: String
        let number: Int
        let at: Duration
        let lastError: String?
    }

    struct Failure: Error, CustomStringConvertible { let description = "The payment provider did not answer." }

    let world: ScriptedWorld
    let store: ControlledStore?
    private let attempts = Noted<[Attempt]>([])

    /// The texts of the attempts, in order.
    var texts: [String] { attempts.value.map(\.text) }

    var all: [Attempt] { attempts.value }

    /// The times of the attempts, counted from the first.
    var pauses: [Duration] {
        let times = attempts.value.map(\.at)
        return times.map { $0 - times[0] }
    }

    static func message(
        _ id: PacketID, _ text: String, to topic: String = "orders/1", qos: QoS = .one, again: Bool = false
    ) -> ScriptStep {
        let delivery: Delivery =
            qos == .one ? .atLeastOnce(id, isDuplicate: again) : .exactlyOnce(id, isDuplicate: again)
        return .send(.publish(Publish(topic: topic, payload: Array(text.utf8), delivery: delivery)))
    }

    /// A connection that grants the subscription and then does `steps`.
    static func connection(_ steps: ScriptStep..., isSessionPresent: Bool = false) -> ConnectionScript {
        .connection([.accept(isSessionPresent: isSessionPresent), .serve(until: .subscribe), .answer] + steps)
    }

    static func run(
        _ script: [ConnectionScript], isStored: Bool, store: ControlledStore = ControlledStore(),
        _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ProcessorWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script) { config in
            if isStored { config.messageStore = store }
            change(&config)
        } _: { world in
            try await body(ProcessorWorld(world: world, store: isStored ? store : nil))
        }
    }

    /// Starts a processor whose handler notes each attempt, and then calls `body`.
    func process(
        _ policy: ProcessingPolicy<String> = .exact(), qos: QoS = .two, name: String? = nil,
        _ body: @escaping @Sendable (String, ProcessingContext) async throws -> Void = { _, _ in }
    ) throws -> any MessageProcessor {
        try world.client.process(String.self, from: "orders/#", qos: qos, name: name, policy: policy) {
            [attempts, clock = world.clock] text, context in
            let at = clock.start.duration(to: clock.now)
            attempts.change {
                $0.append(Attempt(text: text, number: context.attempt, at: at, lastError: context.lastError))
            }
            try await body(text, context)
        }
    }

    /// The packet ids of PUBACK and PUBREC packets, in order.
    var acknowledged: [UInt16] {
        get async {
            await world.broker.packets(.any).compactMap {
                switch $0.packet {
                case .pubAck(let answer), .pubRec(let answer): answer.packetID.rawValue
                default: nil
                }
            }
        }
    }

    var jobs: [StoredJob] {
        get async { await store?.memory.jobs(in: world.scope, after: nil, limit: 100) ?? [] }
    }

    /// Waits until the handler was called this number of times.
    func attempts(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await world.until(sourceLocation: sourceLocation) { attempts.value.count >= count }
    }

    /// Advances the clock second by second, so that tasks on other threads can follow.
    func wait(_ seconds: Int) async {
        for _ in 0..<seconds { await world.run(for: .seconds(1)) }
    }
}

extension ProcessingPolicy {
    /// A policy whose pauses have no random part.
    static func exact(
        attempts: Int = 5, concurrency: Int = 4, order: ProcessingOrder<Value> = .byTopic,
        deduplicate: Deduplication<Value>? = nil, timeout: Duration = .seconds(300),
        waiting: ProcessingLimits = ProcessingLimits(), parked: ParkingLimits = ParkingLimits()
    ) -> Self {
        ProcessingPolicy(
            concurrency: concurrency, order: order, deduplicate: deduplicate,
            retries: RetrySchedule(maximumAttempts: attempts, jitter: 0), handlerTimeout: timeout, waiting: waiting,
            parked: parked)
    }
}

/// A value that several tasks change.
final class Noted<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result { state.withLock { body(&$0) } }
}

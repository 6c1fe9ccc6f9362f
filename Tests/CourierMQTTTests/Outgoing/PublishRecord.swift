import CourierCore
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// The call by which an app publishes.
enum PublishForm: CaseIterable, Sendable {
    /// `publish(bytes:…completion:)`
    case completion
    /// `publishMessage`. Only events report the end of the message.
    case message
    /// `await enqueue`. Only events report the end of the message.
    case enqueue
    /// `await publish`, in a separate task.
    case task

    /// True if the caller receives the result of an accepted message.
    var isAnswered: Bool { self == .completion || self == .task }
}

/// The numbered publishes of one test: the refused calls, and the results of accepted messages.
final class PublishRecord: Sendable {
    typealias Outcome = Result<PublishReceipt, CourierError>

    /// The properties of the published messages, except the number.
    struct Shape: Sendable {
        var topic = "t"
        var qos = QoS.one
        var isLatestOnly = false
        var expiry: Duration?
        var byteCount = 9
    }

    private struct State {
        var nextNumber = 0
        var refusals: [Int: CourierError] = [:]
        var outcomes: [Int: [Outcome]] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        /// Calls of `enqueue` that have not returned.
        var openCalls = 0
    }

    private let client: MQTTClient
    private let setup: OutgoingSetup
    private let state = Mutex(State())

    init(_ world: ScriptedWorld, _ setup: OutgoingSetup) {
        client = world.client
        self.setup = setup
    }

    // MARK: What happened

    /// The number of publish calls.
    var offeredCount: Int { state.withLock { $0.nextNumber } }
    /// The number of calls that failed at once.
    var refusedCount: Int { state.withLock { $0.refusals.count } }
    var acceptedCount: Int { state.withLock { $0.nextNumber - $0.refusals.count } }
    var refusalCodes: Set<CourierError.Code> { state.withLock { Set($0.refusals.values.map(\.code)) } }
    /// The number of ended messages.
    var endedCount: Int { state.withLock { $0.outcomes.count } }
    /// The numbers of the messages that have not ended, in order.
    var open: [Int] {
        state.withLock { state in
            (0..<state.nextNumber).filter { state.refusals[$0] == nil && state.outcomes[$0] == nil }
        }
    }
    /// True if a message ended more than once.
    var hasRepeatedEnds: Bool { state.withLock { $0.outcomes.values.contains { $0.count > 1 } } }
    /// True if each call was refused, has ended, or waits in the client.
    var isSettled: Bool {
        let (tasks, ended) = state.withLock { state in
            (state.tasks.count, state.tasks.keys.count { state.refusals[$0] != nil || state.outcomes[$0] != nil })
        }
        return state.withLock { $0.openCalls == 0 } && tasks - ended <= client.waitingCount
    }

    /// The numbers of the messages that ended with this error, in order. With `nil`, the messages that succeeded.
    func ended(_ code: CourierError.Code?) -> [Int] {
        state.withLock { state in
            state.outcomes.filter { $0.value.contains { $0.failure?.code == code } }.keys.sorted()
        }
    }

    /// Waits for the end of all tasks. The client must have ended their messages.
    func wait() async { for task in state.withLock({ Array($0.tasks.values) }) { await task.value } }

    // MARK: Publishing

    /// Publishes the next message. In a task, a refusal is reported later, as the result `queueFull`.
    ///
    /// - Returns: The error with which the call failed at once.
    @discardableResult
    func offer(_ form: PublishForm, _ shape: Shape = Shape()) async -> CourierError? {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        var payload = Array("\(number)".utf8)
        payload += Array(repeating: UInt8(ascii: " "), count: max(0, shape.byteCount - payload.count))
        let properties = setup.properties(expiry: shape.expiry)
        let request = PublishRequest(
            topic: TopicTemplate(exactly: shape.topic), qos: shape.qos, isLatestOnly: shape.isLatestOnly,
            properties: properties)
        do {
            switch form {
            case .completion:
                try client.publish(
                    bytes: payload, to: shape.topic, qos: shape.qos, retain: false, properties: properties
                ) { [self] in note(number, $0) }
            case .message: try client.publishMessage(payload, topic: shape.topic, qos: shape.qos)
            case .enqueue:
                state.withLock { $0.openCalls += 1 }
                defer { state.withLock { $0.openCalls -= 1 } }
                try await client.enqueue(payload, as: request)
            case .task:
                let task = Task { [self] in
                    do {
                        let receipt = try await client.publish(payload, as: request)
                        note(number, .success(receipt))
                    } catch {
                        note(number, .failure(Self.error(error)))
                    }
                }
                state.withLock { $0.tasks[number] = task }
            }
            return nil
        } catch {
            let refusal = Self.error(error)
            state.withLock { $0.refusals[number] = refusal }
            return refusal
        }
    }

    private func note(_ number: Int, _ outcome: Outcome) {
        state.withLock { state in state.outcomes[number, default: []].append(outcome) }
    }

    private static func error(_ error: any Error) -> CourierError {
        if let error = error as? CourierError { return error }
        Issue.record("a publish ended with \(error)")
        return CourierError(.connectionFailed, "The publish ended with an error of another type.")
    }
}

extension Publish {
    /// The number that ``PublishRecord`` gave the message.
    var number: Int? { Int(text.trimmingCharacters(in: .whitespaces)) }

    /// The DUP flag.
    var isRepeated: Bool {
        switch delivery {
        case .atMostOnce: false
        case .atLeastOnce(_, let isDuplicate), .exactlyOnce(_, let isDuplicate): isDuplicate
        }
    }
}

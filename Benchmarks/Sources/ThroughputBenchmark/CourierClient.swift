import BenchmarkHarness
import CourierTransport
import Glibc
import MQTTCodec
import MQTTEngine
import Synchronization

/// Courier's engine on Courier's transport, without the client that will stand on them: messages come from the calling
/// thread as bytes, completions come back as tokens.
///
/// Safe to share: `state` is touched on the loop only, the outbox has a lock, the rest is constant.
final class CourierClient: ThroughputClient, @unchecked Sendable {
    /// What is touched on the loop only; behind a pointer, so that it costs no exclusivity checks.
    private struct State: ~Copyable {
        var engine: ClientEngine
        var buffer = PacketBuffer()
        var actions = ActionList()
        var performing = ActionList()
        var batch = MessageBatch()
        var channel: ByteChannel?
        var completed = 0
        var expected = Int.max
        var payloadBytes = 0
        var waiter: CheckedContinuation<Void, any Error>?
        var isStalled = false
    }

    private struct Outbox: ~Copyable {
        var messages = MessageBatch()
        var isScheduled = false
        var isCallerWaiting = false
    }

    private static let outboxLimit = 4_096
    private static let outboxByteLimit = 256 << 10

    private let workload: Workload
    private let loop: EventLoop
    private let state: UnsafeMutablePointer<State>
    private let outbox = Mutex(Outbox())
    private let room: UnsafeMutablePointer<sem_t>

    init(_ workload: Workload) async throws {
        self.workload = workload
        loop = try EventLoop()
        var configuration = EngineConfiguration(connect: Connect(version: .v311, clientID: "courier"))
        configuration.maximumInFlightBeforeVersion5 = Int(workload.window)
        configuration.maximumQueued = .max
        state = .allocate(capacity: 1)
        state.initialize(to: State(engine: ClientEngine(configuration)))
        room = .allocate(capacity: 1)
        sem_init(room, 0, 0)
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { [self] in
                state.pointee.waiter = continuation
                state.pointee.channel = ByteChannel.connect(
                    to: .tcp(host: "127.0.0.1", port: workload.port), on: loop, handler: self)
            }
        }
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
        sem_destroy(room)
        room.deallocate()
    }

    func publish(_ count: Int) async throws {
        let qos = PacketQoS(rawValue: UInt8(workload.qos)) ?? .atMostOnce
        if qos != .atMostOnce { loop.execute { [self] in state.pointee.expected = count } }
        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: workload.payloadSize)
        for number in 0..<count {
            hand(OutgoingHeader(qos: qos, token: Token(rawValue: UInt64(number))), payload.span.bytes)
        }
        if qos != .atMostOnce { try await completion() }
    }

    func receive(_ count: Int) async throws -> Int {
        let qos = PacketQoS(rawValue: UInt8(workload.qos)) ?? .atMostOnce
        loop.execute { [self] in
            state.pointee.expected = count
            state.pointee.engine.subscribe(
                [Subscription(workload.topic, qos: qos)], token: 0, now: loop.now, into: &state.pointee.buffer,
                &state.pointee.actions)
            settle()
        }
        try await completion()
        return await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: state.pointee.payloadBytes) }
        }
    }

    func close() async {
        await loop.shutdown()
    }

    /// Puts a message into the outbox, and blocks the calling thread while that is full, as the peers do.
    private func hand(_ header: OutgoingHeader, _ payload: RawSpan) {
        while true {
            let (isTaken, wakes) = outbox.withLock { outbox -> (Bool, Bool) in
                guard outbox.messages.count < Self.outboxLimit, outbox.messages.byteCount < Self.outboxByteLimit else {
                    outbox.isCallerWaiting = true
                    return (false, false)
                }
                outbox.messages.append(header, topic: workload.topic, payload: payload)
                defer { outbox.isScheduled = true }
                return (true, !outbox.isScheduled)
            }
            if wakes { loop.enqueue(self) }
            if isTaken { return }
            sem_wait(room)
        }
    }

    private func completion() async throws {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { [self] in
                state.pointee.waiter = continuation
                checkCompletion()
            }
        }
    }

    private func checkCompletion() {
        guard state.pointee.completed >= state.pointee.expected, let waiter = state.pointee.waiter else { return }
        state.pointee.waiter = nil
        waiter.resume()
    }

    private func settle() {
        if !state.pointee.buffer.isEmpty, let channel = state.pointee.channel {
            state.pointee.buffer.withBytes { channel.write($0) }
            state.pointee.buffer.removeAll()
        }
        performAll()
    }

    private func performAll() {
        swap(&state.pointee.actions, &state.pointee.performing)
        for index in state.pointee.performing.entries.indices {
            switch state.pointee.performing.entries[index] {
            case .progress(.acknowledged): state.pointee.completed += 1
            case .progress: break
            case .message(let index):
                state.pointee.completed += 1
                state.pointee.payloadBytes += state.pointee.performing.messages[index].view.payload.count
            case .rare(let index): perform(state.pointee.performing.rare[index])
            }
        }
        state.pointee.performing.removeAll()
        checkCompletion()
    }

    private func perform(_ action: EngineAction) {
        switch action {
        case .connected:
            state.pointee.waiter?.resume()
            state.pointee.waiter = nil
        case .close(let reason):
            state.pointee.waiter?.resume(throwing: Failure("the engine closed: \(reason)"))
            state.pointee.waiter = nil
        default: break
        }
    }
}

extension CourierClient: LoopWork {
    func runOnLoop() {
        while true {
            if state.pointee.channel?.isAboveHighWater == true || state.pointee.engine.queuedCount > 1_000 {
                state.pointee.isStalled = true
                return
            }
            let (isEmpty, wakesCaller) = outbox.withLock { outbox -> (Bool, Bool) in
                defer { outbox.isCallerWaiting = false }
                if outbox.messages.isEmpty {
                    outbox.isScheduled = false
                    return (true, outbox.isCallerWaiting)
                }
                swap(&outbox.messages, &state.pointee.batch)
                return (false, outbox.isCallerWaiting)
            }
            if wakesCaller { sem_post(room) }
            state.pointee.engine.publish(
                state.pointee.batch, now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
            state.pointee.batch.removeAll()
            if isEmpty { return }
            settle()
        }
    }

    private func resumeIfStalled() {
        guard state.pointee.isStalled else { return }
        state.pointee.isStalled = false
        runOnLoop()
    }
}

extension CourierClient: ChannelHandler {
    func opened(_ channel: ByteChannel) {
        state.pointee.engine.transportOpened(
            now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
        settle()
    }

    func received(_ bytes: RawSpan) -> Int {
        var consumed = 0
        while consumed < bytes.byteCount {
            let taken = state.pointee.engine.received(
                bytes.extracting(consumed..<bytes.byteCount), now: loop.now, into: &state.pointee.buffer,
                &state.pointee.actions)
            performAll()
            if taken == 0 { break }
            consumed += taken
        }
        return consumed
    }

    func readBatchEnded() {
        settle()
        resumeIfStalled()
    }

    func fellBelowLowWater() { resumeIfStalled() }

    func closed(_ reason: ChannelCloseReason) {
        state.pointee.channel = nil
        state.pointee.waiter?.resume(throwing: Failure("the connection ended: \(reason)"))
        state.pointee.waiter = nil
    }
}

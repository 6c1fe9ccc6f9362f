import CourierTransport
import MQTTCodec
import Synchronization

/// The broker of a walk, which runs inside the client's writes. It behaves correctly, but a walk can make it slow, let it stop
/// reading, refuse connections, or lose the session.
final class WalkBroker: Sendable {
    /// An answer that the broker has not sent yet.
    private enum Answer { case pubAck(PacketID, Int), pubRec(PacketID, Int), pubComp(PacketID) }

    private struct State {
        // What the walk wants.
        var answersAtOnce = true
        var isReading = true
        var refusals = 0
        var receiveMaximum = 3
        // The session.
        var hasSession = false
        // The connection.
        var number = 0
        var openCount = 0
        var isOpen = false
        var isBroken = false
        var readiness: StreamReadiness?
        /// The bytes of an incomplete packet.
        var partial: [UInt8] = []
        /// Packets that the broker has not read.
        var unread: [Packet] = []
        var unreadBytes = 0
        var output: [UInt8] = []
        /// The messages whose answers are in ``output``, and the position where each answer ends.
        var unreadAnswers: [(number: Int, end: Int)] = []
        var owed: [Answer] = []
    }

    private let state = Mutex(State())
    private let transcript: WalkTranscript
    private let capacity: Int
    private let fault: WalkFault?

    init(_ transcript: WalkTranscript, capacity: Int, receiveMaximum: Int, fault: WalkFault?) {
        self.transcript = transcript
        self.capacity = capacity
        self.fault = fault
        state.withLock { $0.receiveMaximum = receiveMaximum }
    }

    // MARK: What a walk does

    /// The number of opened connections.
    var openCount: Int { state.withLock { $0.openCount } }

    func answer(_ count: Int) { change { self.settleAnswers(&$0, atMost: count) } }

    func setAnswersAtOnce(_ answersAtOnce: Bool) {
        change { state in
            state.answersAtOnce = answersAtOnce
            if answersAtOnce { self.settleAnswers(&state, atMost: .max) }
        }
    }

    func refuse(_ count: Int) { state.withLock { $0.refusals = count } }

    func stopReading() {
        state.withLock { $0.isReading = false }
        transcript.append(.stalled)
    }

    func readAgain() {
        change { state in
            state.isReading = true
            self.readAll(&state)
        }
    }

    /// Breaks the connection, with or without the session.
    func cut(losingSession: Bool) {
        change { state in
            if losingSession { state.hasSession = false }
            guard state.isOpen else { return }
            self.end(&state)
            state.isBroken = true
        }
    }

    private func change(_ body: (inout sending State) -> Void) {
        let readiness = state.withLock { state in
            let readiness = state.readiness
            body(&state)
            return readiness
        }
        readiness?.readable()
        readiness?.writable()
    }

    // MARK: The stream

    /// Opens a new connection, and ends the previous one.
    func connect() -> TransportEndpoint {
        let number = state.withLock { state in
            end(&state)
            state.number += 1
            (state.isOpen, state.isBroken) = (true, false)
            return state.number
        }
        return .stream(WalkStream(self, number))
    }

    func open(_ number: Int, _ readiness: StreamReadiness) {
        state.withLock { state in
            state.openCount += 1
            if state.number == number { state.readiness = readiness }
        }
    }

    func read(_ number: Int, into space: UnsafeMutableRawBufferPointer) throws(TransportError) -> StreamRead {
        // Safe: used inside this call only.
        nonisolated(unsafe) let space = space
        let result = state.withLock { state -> StreamRead? in
            guard state.number == number, !state.isBroken else { return nil }
            let count = min(space.count, state.output.count)
            if count == 0 { return state.isOpen ? .bytesThenWait(0) : .ended }
            space.copyBytes(from: state.output[..<count])
            state.output.removeFirst(count)
            noteReadAnswers(&state, count)
            return .bytes(count)
        }
        guard let result else { throw TransportError(.reset, "the walk cut the connection") }
        return result
    }

    func write(_ number: Int, _ bytes: UnsafeRawBufferPointer) throws(TransportError) -> StreamWrite {
        // Safe: used inside this call only.
        nonisolated(unsafe) let bytes = bytes
        let (result, readiness) = state.withLock { state -> (StreamWrite?, StreamReadiness?) in
            guard state.number == number, state.isOpen else { return (nil, nil) }
            let room = state.isReading ? bytes.count : min(bytes.count, max(0, capacity - state.unreadBytes))
            if room == 0 { return (.bytesThenWait(0), nil) }
            let readiness = state.readiness
            state.partial += bytes[..<room]
            state.unreadBytes += room
            takePackets(&state)
            if state.isReading { readAll(&state) }
            return (.bytes(room), readiness)
        }
        guard let result else { throw TransportError(.brokenPipe, "the walk cut the connection") }
        readiness?.readable()
        return result
    }

    func closed(_ number: Int) {
        state.withLock { if $0.number == number { end(&$0) } }
    }

    private func end(_ state: inout State) {
        (state.isOpen, state.readiness) = (false, nil)
        (state.partial, state.unread, state.unreadBytes) = ([], [], 0)
        (state.output, state.unreadAnswers, state.owed) = ([], [], [])
    }

    // MARK: Packets

    /// Records each PUBLISH when the client has written it, even if the broker does not read.
    private func takePackets(_ state: inout State) {
        let decoder = PacketDecoder(version: .v5, sender: .client)
        let bytes = state.partial
        var offset = 0
        while case .frame(let frame)? = try? decoder.nextFrame(in: bytes.span.bytes, at: offset) {
            guard let packet = try? decoder.packet(frame, in: bytes.span.bytes) else { return end(&state) }
            offset = frame.end
            guard case .publish(let publish) = packet else {
                state.unread.append(packet)
                continue
            }
            for _ in 0..<(fault?.copies(of: publish) ?? 1) {
                transcript.append(.sent(publish.walkNumber, publish.walkPacketID, isDuplicate: publish.isWalkDuplicate))
                state.unread.append(packet)
            }
        }
        state.partial.removeFirst(offset)
    }

    private func readAll(_ state: inout State) {
        while state.isOpen, !state.unread.isEmpty { received(state.unread.removeFirst(), &state) }
        state.unreadBytes = state.partial.count
        if state.answersAtOnce { settleAnswers(&state, atMost: .max) }
    }

    private func received(_ packet: Packet, _ state: inout State) {
        switch packet {
        case .connect(let connect): accept(connect, &state)
        case .publish(let publish): receive(publish, &state)
        case .pubRel(let release): state.owed.append(.pubComp(release.packetID))
        case .pingReq: send(.pingResp, &state)
        case .disconnect: end(&state)
        case .connAck, .pubAck, .pubRec, .pubComp, .subscribe, .subAck, .unsubscribe, .unsubAck, .pingResp, .auth:
            break  // A walk does not subscribe or receive messages.
        }
    }

    private func accept(_ connect: Connect, _ state: inout State) {
        if state.refusals > 0 {
            state.refusals -= 1
            send(.connAck(ConnAck(reasonCode: .serverUnavailable)), &state)
            state.isOpen = false  // The client can still read the sent bytes.
            return
        }
        if connect.isCleanStart { state.hasSession = false }
        let isPresent = state.hasSession
        state.hasSession = true
        transcript.append(.connected(receiveMaximum: state.receiveMaximum, isSessionPresent: isPresent))
        let properties: PacketProperties = [.receiveMaximum(UInt16(state.receiveMaximum))]
        send(.connAck(ConnAck(isSessionPresent: isPresent, properties: properties)), &state)
    }

    private func receive(_ publish: Publish, _ state: inout State) {
        switch publish.delivery {
        case .atMostOnce: break
        case .atLeastOnce(let id, _): state.owed.append(.pubAck(id, publish.walkNumber))
        case .exactlyOnce(let id, _): state.owed.append(.pubRec(id, publish.walkNumber))
        }
    }

    private func settleAnswers(_ state: inout State, atMost count: Int) {
        for answer in state.owed.prefix(count) {
            switch answer {
            case .pubAck(let id, let number):
                transcript.append(.completed(packetID: id.rawValue))
                send(.pubAck(Acknowledgement(packetID: id)), &state)
                state.unreadAnswers.append((number, state.output.count))
            case .pubRec(let id, let number):
                send(.pubRec(Acknowledgement(packetID: id)), &state)
                state.unreadAnswers.append((number, state.output.count))
            case .pubComp(let id):
                transcript.append(.completed(packetID: id.rawValue))
                send(.pubComp(Acknowledgement(packetID: id)), &state)
            }
        }
        state.owed.removeFirst(min(count, state.owed.count))
    }

    /// Records the answers that the client has read completely.
    private func noteReadAnswers(_ state: inout State, _ count: Int) {
        while let answer = state.unreadAnswers.first, answer.end <= count {
            transcript.append(.answered(answer.number))
            state.unreadAnswers.removeFirst()
        }
        for index in state.unreadAnswers.indices { state.unreadAnswers[index].end -= count }
    }

    private func send(_ packet: Packet, _ state: inout State) {
        var buffer = PacketBuffer()
        do {
            try PacketEncoder(version: .v5, sender: .server).encode(packet, into: &buffer)
        } catch {
            preconditionFailure("the walk's broker wrote a wrong packet: \(error)")
        }
        state.output += buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }
}

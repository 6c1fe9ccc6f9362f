public import CourierCore
import MQTTCodec
import Synchronization

/// The packets of one recorded connection, for replay: the client's packets to a broker, or the broker's packets to a
/// client.
///
/// ```swift
/// let session = logger.recordedSessions().first?.replacingCredentials(username: "ada", password: secret)
/// for step in session?.steps ?? [] where step.direction == .outgoing {
///     try await Task.sleep(for: step.delay)
///     write(step.bytes)
/// }
/// ```
///
/// In this example, `secret` is the password, and `write` is a function of the app that sends bytes to the broker. In a
/// recorded session, secrets are overwritten: every byte of a password is `*`.
public struct RecordedSession: Hashable, Sendable {
    /// One packet of the session, and the delay before it.
    public struct Step: Hashable, Sendable {
        /// The time since the previous step in either direction.
        public let delay: Duration

        /// The direction of the packet: outgoing from the client, or incoming from the broker.
        public let direction: PacketBatch.Direction

        /// The bytes of the packet.
        public var bytes: [UInt8]
    }

    /// The recorded connection.
    public let connection: MQTTChuckConnection

    /// The packets of the connection, oldest first.
    public internal(set) var steps: [Step]

    /// True if the steps contain every packet of the connection, beginning with CONNECT. Dropped rows, and packets that
    /// were cut because of their size, are not in the steps.
    public let isComplete: Bool

    /// Returns the steps in one direction. Each delay is the time since the previous step in the same direction.
    ///
    /// - Parameter direction: `.outgoing` for the client's packets, `.incoming` for the broker's packets.
    /// - Returns: The steps, oldest first.
    public func steps(_ direction: PacketBatch.Direction) -> [Step] {
        var waited = Duration.zero
        var result: [Step] = []
        for step in steps {
            waited += step.delay
            if step.direction == direction {
                result.append(Step(delay: waited, direction: direction, bytes: step.bytes))
                waited = .zero
            }
        }
        return result
    }

    /// Returns a copy with other credentials in its CONNECT packet, because a recorded CONNECT has no usable password.
    ///
    /// - Parameters:
    ///   - username: The user name; `nil` sends none.
    ///   - password: The password; `nil` sends none.
    /// - Returns: The new session, or this session unchanged if its first packet is not a CONNECT.
    public func replacingCredentials(username: String?, password: String?) -> RecordedSession {
        guard let first = steps.first, first.direction == .outgoing else { return self }
        let version = connection.codecVersion
        let decoder = PacketDecoder(version: version, sender: .client)
        let packet = first.bytes.withBytes { bytes -> Packet? in
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes) else { return nil }
            return try? decoder.packet(frame, in: bytes)
        }
        guard case .connect(var connect)? = packet else { return self }
        connect.username = username
        connect.password = password.map { SecretBytes($0) }
        var buffer = PacketBuffer()
        guard (try? PacketEncoder(version: version, sender: .client).encode(.connect(connect), into: &buffer)) != nil
        else { return self }
        var copy = self
        copy.steps[0].bytes = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        return copy
    }
}

extension MQTTChuckLogger {
    /// Returns the recorded connections for replay, in the order of their first packets.
    ///
    /// - Parameter query: Selects the rows, such as `client:abc`; all rows by default.
    /// - Returns: One session per connection.
    public func recordedSessions(matching query: MQTTChuckQuery = .all) -> [RecordedSession] {
        var order: [UInt64] = []
        var rows: [UInt64: [RawRow]] = [:]
        forEachRow(matching: query, RowReader(options)) { part in
            for raw in part {
                if rows[raw.connection.id] == nil { order.append(raw.connection.id) }
                rows[raw.connection.id, default: []].append(raw)
            }
        }
        return order.compactMap { id in rows[id].flatMap(Self.session) }
    }

    private static func session(_ rows: [RawRow]) -> RecordedSession? {
        guard let first = rows.first else { return nil }
        let whole = rows.filter { $0.isWhole && !$0.isCut }
        var time = whole.first?.time ?? first.time
        let steps = whole.map { raw in
            let delay = max(0, Nanoseconds.difference(raw.time, time))
            time = max(time, raw.time)
            return RecordedSession.Step(
                delay: .nanoseconds(delay), direction: raw.direction, bytes: Array(raw.bytes))
        }
        return RecordedSession(
            connection: first.connection, steps: steps, isComplete: whole.count == rows.count && first.type == .connect)
    }
}

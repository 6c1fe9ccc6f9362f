public import CourierCore
import MQTTCodec
import Synchronization

/// What one connection said, to be said again: to a broker with the client's part, or to a client with the broker's.
///
/// ```swift
/// let session = logger.recordedSessions().first?.replacingCredentials(username: "ada", password: secret)
/// for step in session?.steps ?? [] where step.direction == .outgoing {
///     try await Task.sleep(for: step.delay)
///     write(step.bytes)
/// }
/// ```
///
/// Secrets are not in it: a password has `*` for every byte.
public struct RecordedSession: Hashable, Sendable {
    /// One packet.
    public struct Step: Hashable, Sendable {
        /// How long after the step before it, whichever way that went.
        public let delay: Duration

        /// Which way it went.
        public let direction: PacketBatch.Direction

        /// The packet.
        public var bytes: [UInt8]
    }

    /// The connection.
    public let connection: MQTTChuckConnection

    /// Its packets in order.
    public internal(set) var steps: [Step]

    /// Whether nothing is missing from the CONNECT on: rows may have been dropped, and packets cut because they were
    /// too large, which are left out here.
    public let isComplete: Bool

    /// The steps that go one way, with the time since the step before them that went the same way.
    ///
    /// - Parameter direction: `.outgoing` for what the client sends, `.incoming` for what the broker does.
    /// - Returns: The steps.
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

    /// The same with other credentials in its CONNECT, because recorded ones have no password.
    ///
    /// - Parameters:
    ///   - username: The user name; `nil` sends none.
    ///   - password: The password; `nil` sends none.
    /// - Returns: The session; unchanged where its first packet is no CONNECT.
    public func replacingCredentials(username: String?, password: String?) -> RecordedSession {
        guard let first = steps.first, first.direction == .outgoing else { return self }
        let version = connection.codecVersion
        let decoder = PacketDecoder(version: version, sender: .client)
        guard case .frame(let frame)? = try? decoder.nextFrame(in: first.bytes.span.bytes),
            case .connect(var connect)? = try? decoder.packet(frame, in: first.bytes.span.bytes)
        else { return self }
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
    /// The connections that are kept, to be replayed; in the order of their first packets.
    ///
    /// - Parameter query: Which rows are wanted, such as `client:abc`; all by default.
    /// - Returns: A session for each connection.
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

public import CourierTransport
import MQTTCodec

/// An MQTT server in this process that misbehaves on demand, for tests of how a client takes it.
///
/// A script names, for each connection in turn, what is special about it; otherwise, and where the script ends, the broker
/// is well-behaved: it accepts, grants every subscription, acknowledges and answers pings. It passes no messages on and keeps
/// no sessions; for that there is ``LoopbackBroker``. It speaks MQTT 3.1, 3.1.1 and 5.0 over TCP on a free port, over a
/// Unix socket, over TLS with a certificate of yours, or directly in memory, and over WebSocket above each of them.
///
/// ```swift
/// let gate = ScriptGate()
/// let broker = try ScriptedBroker.start([
///     .connection([.refuse(.serverUnavailable)]),
///     .connection([.accept(), .expect(.publish), .cut(.reset)]),
///     .connection([.accept(isSessionPresent: true), .fault(.hold(.pubAck, until: gate))]),
/// ])
/// connect(to: broker.endpoint)
/// let again = try await broker.received(.publish(isDuplicate: true), on: 3)
/// gate.release()
/// try await broker.verify()
/// await broker.shutdown()
/// ```
///
/// Everything that comes is recorded with its time, by the clock of the loop, which may be a ``VirtualClock``. Whoever waits
/// for something is told when it comes; when the script fails or the broker is shut down before, waiting ends with a
/// ``ScriptFailure`` that says what came instead.
///
/// Any thread may call it, but ``shutdown()`` is not to be awaited by a task that runs on the broker's loop.
public final class ScriptedBroker: Sendable {
    /// How many packets are recorded by default: 100,000. A connection that brings more is cut, and the script has failed.
    public static let defaultPacketLimit = 100_000

    /// Where clients connect.
    public let endpoint: TransportEndpoint
    /// The TCP port, 0 for a Unix socket.
    public let port: UInt16

    private let loop: EventLoop
    private let ownsLoop: Bool
    private let options: ChannelOptions
    private let listener: ChannelListener
    private let host: ScriptedHost

    private init(
        _ loop: EventLoop, ownsLoop: Bool, _ options: ChannelOptions, _ listener: ChannelListener, _ host: ScriptedHost
    ) {
        self.loop = loop
        self.ownsLoop = ownsLoop
        self.options = options
        self.listener = listener
        self.host = host
        endpoint = listener.endpoint
        port = listener.port
    }

    /// Starts a broker; returns when clients can connect.
    ///
    /// - Parameters:
    ///   - script: What is special about the first connections, in the order in which clients make them.
    ///   - afterwards: What is special about each connection behind the script; nothing by default.
    ///   - address: Where to listen; a free port of 127.0.0.1 by default.
    ///   - tls: A server's context, to speak TLS; `nil` by default.
    ///   - webSocket: What to expect of clients that speak WebSocket; `nil`, the default, for those that do not.
    ///   - loop: Where it runs, maybe together with the client, so that a ``VirtualClock`` settles both at once; by default a
    ///     loop of its own, in real time.
    ///   - packetLimit: How many packets are recorded at most.
    /// - Returns: The broker, which runs until ``shutdown()``.
    /// - Throws: `TransportError` when the address cannot be listened on.
    public static func start(
        _ script: [ConnectionScript] = [], afterwards: [ScriptStep] = [], at address: ChannelListener.Address = .tcp(),
        tls: TLSContext? = nil, webSocket: WebSocketConfiguration? = nil, on loop: EventLoop? = nil,
        packetLimit: Int = defaultPacketLimit
    ) throws(TransportError) -> ScriptedBroker {
        var options = Self.channelOptions
        options.webSocket = webSocket
        let home: EventLoop
        if let loop { home = loop } else { home = try EventLoop(name: "scripted-broker") }
        let host = ScriptedHost(script, afterwards: afterwards, packetLimit: packetLimit, on: home)
        do throws(TransportError) {
            let listener = try ChannelListener.listen(
                on: address, tls: tls, options: options, loop: home
            ) { host.accept($0) }
            return ScriptedBroker(home, ownsLoop: loop == nil, options, listener, host)
        } catch {
            if loop == nil { home.shutdownAndWait() }
            throw error
        }
    }

    /// The client's end of a connection in memory, whose other end this broker has accepted. WebSocket is spoken on it if
    /// the broker was started so, TLS is not.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may wait in each direction, 64 KiB by default.
    ///   - bytesPerCall: How many bytes one read or write moves at most, without limit by default.
    /// - Returns: An endpoint for one connection.
    public func connectInMemory(capacity: Int = 64 << 10, bytesPerCall: Int = .max) -> TransportEndpoint {
        let (client, server) = MemoryStream.pair(capacity: capacity, bytesPerCall: bytesPerCall)
        loop.execute { [loop, options, host] in
            ByteChannel.accept(server, options: options, on: loop) { host.accept($0) }
        }
        return .stream(client)
    }

    /// What was sent before an orderly cut reaches a client that reads late, on a busy machine too.
    private static var channelOptions: ChannelOptions {
        var options = ChannelOptions()
        options.lingerTimeout = .seconds(600)
        return options
    }

    /// Stops: no more connections are accepted, those there are break, and the waiting caller gets an error. What was recorded
    /// can still be read. A loop that was given to the broker continues.
    public func shutdown() async {
        listener.close()
        await withCheckedContinuation { continuation in
            loop.execute { [host] in
                host.shutDown()
                continuation.resume()
            }
        }
        if ownsLoop { await loop.shutdown() }
    }

    // MARK: What came

    /// All connections that clients have made, in order, with what came on each.
    public var connections: [RecordedConnection] {
        get async { await host.withJournal { $0.connections } }
    }

    /// The packets that came, on all connections or one, in order.
    ///
    /// - Parameters:
    ///   - pattern: Which packets; all by default.
    ///   - connection: The number of the connection, counted from 1; all by default.
    /// - Returns: The packets.
    public func packets(_ pattern: PacketPattern = .any, on connection: Int? = nil) async -> [ReceivedPacket] {
        await host.withJournal { journal in
            journal.packets.filter {
                (connection == nil || connection == $0.connection) && pattern.matches($0.packet)
            }
        }
    }

    /// Waits for a packet, which may have come already.
    ///
    /// - Parameters:
    ///   - pattern: Which packet.
    ///   - number: The how-manieth of its kind, counted from 1, the first by default.
    ///   - connection: The number of the connection, counted from 1; any by default, and then packets of all are counted.
    /// - Returns: The packet.
    /// - Throws: ``ScriptFailure`` when the script has failed or the broker is shut down before, `CancellationError` when
    ///   the task is cancelled.
    @discardableResult
    public func received(
        _ pattern: PacketPattern, number: Int = 1, on connection: Int? = nil
    ) async throws -> ReceivedPacket {
        let goal = ScriptJournal.Goal.packet(pattern, remaining: max(1, number), connection: connection)
        guard case .packet(let packet) = try await host.find(goal) else { throw Self.mismatch }
        return packet
    }

    /// Waits until a client has made a connection.
    ///
    /// - Parameter number: The number of the connection, counted from 1.
    /// - Returns: The connection as it is now.
    /// - Throws: As ``received(_:number:on:)``.
    @discardableResult
    public func connection(_ number: Int) async throws -> RecordedConnection {
        guard case .connection(let found) = try await host.find(.opening(number)) else { throw Self.mismatch }
        return found
    }

    /// Waits until a connection has ended.
    ///
    /// - Parameter number: The number of the connection, counted from 1.
    /// - Returns: The connection with all that came on it.
    /// - Throws: As ``received(_:number:on:)``.
    @discardableResult
    public func endOfConnection(_ number: Int) async throws -> RecordedConnection {
        guard case .connection(let found) = try await host.find(.end(number)) else { throw Self.mismatch }
        return found
    }

    private static let mismatch = ScriptFailure(
        connection: nil, step: nil, expectation: "", event: "the broker found something else than was asked for")

    // MARK: How the script went

    /// What clients did not do as the script expects, in order.
    public var failures: [ScriptFailure] {
        get async { await host.withJournal { $0.failures } }
    }

    /// Waits until the scripts of all connections have been played to their ends.
    ///
    /// - Throws: As ``received(_:number:on:)``.
    public func played() async throws { _ = try await host.find(.played) }

    /// Checks that everything has gone as the script says; does not wait.
    ///
    /// - Throws: ``ScriptFailure``: the first, or where the script of a connection stands that has not been played to its end.
    public func verify() async throws {
        if let shortcoming = await host.shortcoming() { throw shortcoming }
    }
}

public import CourierTransport
import MQTTCodec

/// An MQTT server in this process that misbehaves on demand, to test how a client reacts.
///
/// A script lists the deviations for each connection. Apart from these deviations, and after the end of the script, the
/// broker behaves correctly: it accepts, grants every subscription, acknowledges and answers pings. It forwards no
/// messages and keeps no sessions; a ``LoopbackBroker`` does both. It supports MQTT 3.1, 3.1.1 and 5.0. Clients connect
/// by TCP on a free port, by a Unix socket, by TLS with your certificate, or in memory, each with or without WebSocket.
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
/// All received packets are recorded with their time, by the clock of the loop, which may be a ``VirtualClock``. A test
/// may wait for a packet when the script fails or the broker is shut down. The wait then ends with a ``ScriptFailure``,
/// which says what happened instead.
///
/// Any thread may call the broker's methods, but a task that runs on the broker's loop must not await ``shutdown()``.
public final class ScriptedBroker: Sendable {
    /// The default for the maximum number of recorded packets: 100,000. If a connection exceeds the maximum, it is cut
    /// and the script fails.
    public static let defaultPacketLimit = 100_000

    /// The endpoint that clients connect to.
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

    /// Starts a broker, and returns it when clients can connect.
    ///
    /// - Parameters:
    ///   - script: The scripts of the first connections, in the order in which clients open them.
    ///   - afterwards: The script of each later connection; no deviations by default.
    ///   - address: The address to listen on; a free port of 127.0.0.1 by default.
    ///   - tls: The server's TLS context; `nil`, the default, means no TLS.
    ///   - webSocket: The settings of WebSocket; `nil`, the default, means no WebSocket.
    ///   - loop: The event loop of the broker; by default its own loop, in real time. If one ``VirtualClock`` must
    ///     control the client and the broker, pass the client's loop.
    ///   - packetLimit: The maximum number of recorded packets; 100,000 by default.
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

    /// Opens a connection in memory and returns the client's end. The connection uses WebSocket if the broker was
    /// started with WebSocket. It never uses TLS.
    ///
    /// - Parameters:
    ///   - capacity: The most bytes that are buffered in each direction; 64 KiB by default.
    ///   - bytesPerCall: The most bytes that one read or write moves; no limit by default.
    /// - Returns: An endpoint for one connection.
    public func connectInMemory(capacity: Int = 64 << 10, bytesPerCall: Int = .max) -> TransportEndpoint {
        let (client, server) = MemoryStream.pair(capacity: capacity, bytesPerCall: bytesPerCall)
        loop.execute { [loop, options, host] in
            ByteChannel.accept(server, options: options, on: loop) { host.accept($0) }
        }
        return .stream(client)
    }

    /// The options of all connections. The linger timeout is long: after an orderly cut, the sent data thus reaches
    /// even a client that reads late on a busy machine.
    private static var channelOptions: ChannelOptions {
        var options = ChannelOptions()
        options.lingerTimeout = .seconds(600)
        return options
    }

    /// Stops the broker: it accepts no more connections and breaks the open connections. Waiting callers get an error.
    /// The records remain readable. An event loop that was passed to the broker continues.
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

    // MARK: Records

    /// The records of all connections, in the order in which clients opened them.
    public var connections: [RecordedConnection] {
        get async { await host.withJournal { $0.connections } }
    }

    /// Returns the received packets of all connections or of one connection, oldest first.
    ///
    /// - Parameters:
    ///   - pattern: The packets to return; all by default.
    ///   - connection: The number of the connection, counted from 1; all by default.
    /// - Returns: The packets.
    public func packets(_ pattern: PacketPattern = .any, on connection: Int? = nil) async -> [ReceivedPacket] {
        await host.withJournal { journal in
            journal.packets.filter {
                (connection == nil || connection == $0.connection) && pattern.matches($0.packet)
            }
        }
    }

    /// Waits for a packet, which may have been received already.
    ///
    /// - Parameters:
    ///   - pattern: The packet to wait for.
    ///   - number: The position of the packet among the matching packets; 1, the first, by default.
    ///   - connection: The number of the connection, counted from 1; by default, the packets of all connections are
    ///     counted.
    /// - Returns: The packet.
    /// - Throws: ``ScriptFailure`` if the script fails or the broker is shut down first, `CancellationError` if
    ///   the task is cancelled.
    @discardableResult
    public func received(
        _ pattern: PacketPattern, number: Int = 1, on connection: Int? = nil
    ) async throws -> ReceivedPacket {
        let goal = ScriptJournal.Goal.packet(pattern, remaining: max(1, number), connection: connection)
        guard case .packet(let packet) = try await host.find(goal) else { throw Self.mismatch }
        return packet
    }

    /// Waits until a client has opened a connection.
    ///
    /// - Parameter number: The number of the connection, counted from 1.
    /// - Returns: The present record of the connection.
    /// - Throws: As ``received(_:number:on:)``.
    @discardableResult
    public func connection(_ number: Int) async throws -> RecordedConnection {
        guard case .connection(let found) = try await host.find(.opening(number)) else { throw Self.mismatch }
        return found
    }

    /// Waits until a connection has ended.
    ///
    /// - Parameter number: The number of the connection, counted from 1.
    /// - Returns: The complete record of the connection.
    /// - Throws: As ``received(_:number:on:)``.
    @discardableResult
    public func endOfConnection(_ number: Int) async throws -> RecordedConnection {
        guard case .connection(let found) = try await host.find(.end(number)) else { throw Self.mismatch }
        return found
    }

    private static let mismatch = ScriptFailure(
        connection: nil, step: nil, expectation: "", event: "the broker returned a result of another type")

    // MARK: Results of the script

    /// The failures of the scripts, oldest first.
    public var failures: [ScriptFailure] {
        get async { await host.withJournal { $0.failures } }
    }

    /// Waits until the scripts of all connections have ended.
    ///
    /// - Throws: As ``received(_:number:on:)``.
    public func played() async throws { _ = try await host.find(.played) }

    /// Checks that all scripts have ended without a failure, and that each ``AnswerFault`` of a script applied to all
    /// of its answers. A fault for all answers (`count` is `.max`) is not checked. The method does not wait.
    ///
    /// - Throws: A ``ScriptFailure``: the first failure, the current step of a script that has not ended, or a fault
    ///   that applied to fewer answers.
    public func verify() async throws {
        if let shortcoming = await host.shortcoming() { throw shortcoming }
    }
}

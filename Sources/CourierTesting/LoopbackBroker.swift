public import CourierTransport
public import MQTTCodec
import Synchronization

/// A small MQTT broker in this process, for tests and demos. It is not for production.
///
/// It runs a ``BrokerMachine`` on an event loop and supports MQTT 3.1, 3.1.1 and 5.0. Clients connect by TCP on a free
/// port, by a Unix socket, by TLS with your certificate, or in memory, each with or without WebSocket. When it stops,
/// sessions and retained messages are lost.
///
/// ```swift
/// let broker = try LoopbackBroker.start()
/// connect(to: "127.0.0.1", broker.port)
/// …
/// await broker.shutdown()
/// ```
///
/// Any thread may call the broker's methods, but a task that runs on the broker's loop must not await ``shutdown()``.
public final class LoopbackBroker: Sendable {
    /// The endpoint that clients connect to.
    public let endpoint: TransportEndpoint
    /// The TCP port; 0 for a Unix socket.
    public let port: UInt16

    private let loop: EventLoop
    private let ownsLoop: Bool
    private let options: ChannelOptions
    private let listener: ChannelListener
    private let host: BrokerHost

    private init(
        loop: EventLoop, ownsLoop: Bool, options: ChannelOptions, listener: ChannelListener, host: BrokerHost
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
    ///   - address: The address to listen on; a free port of 127.0.0.1 by default.
    ///   - tls: The server's TLS context; `nil`, the default, means no TLS.
    ///   - webSocket: The settings of WebSocket; `nil`, the default, means no WebSocket.
    ///   - configuration: The broker's features, access rules and limits.
    ///   - loop: The event loop of the broker; by default its own loop, in real time. If one ``VirtualClock`` must
    ///     control the client and the broker, pass the client's loop.
    /// - Returns: The broker, which runs until ``shutdown()``.
    /// - Throws: `TransportError` when the address cannot be listened on.
    public static func start(
        on address: ChannelListener.Address = .tcp(), tls: TLSContext? = nil, webSocket: WebSocketConfiguration? = nil,
        configuration: BrokerConfiguration = BrokerConfiguration(), loop: EventLoop? = nil
    ) throws(TransportError) -> LoopbackBroker {
        var options = ChannelOptions()
        options.webSocket = webSocket
        let home: EventLoop
        if let loop { home = loop } else { home = try EventLoop(name: "loopback-broker") }
        let host = BrokerHost(configuration, on: home)
        do throws(TransportError) {
            let listener = try ChannelListener.listen(on: address, tls: tls, options: options, loop: home) {
                host.accept($0)
            }
            return LoopbackBroker(
                loop: home, ownsLoop: loop == nil, options: options, listener: listener, host: host)
        } catch {
            if loop == nil { home.shutdownAndWait() }
            throw error
        }
    }

    /// Opens a connection in memory and returns the client's end. The connection uses WebSocket if the broker was
    /// started with WebSocket. It never uses TLS.
    ///
    /// - Parameter bytesPerCall: The most bytes that one read or write moves; no limit by default.
    /// - Returns: An endpoint for one connection.
    public func connectInMemory(bytesPerCall: Int = .max) -> TransportEndpoint {
        let (client, server) = MemoryStream.pair(bytesPerCall: bytesPerCall)
        loop.execute { [loop, options, host] in
            ByteChannel.accept(server, options: options, on: loop) { host.accept($0) }
        }
        return .stream(client)
    }

    /// Drops every connection without DISCONNECT, like a network failure. The sessions stay.
    public func dropConnections() {
        loop.execute { [host] in host.dropConnections() }
    }

    /// Ends the connection of a client. An MQTT 5 client receives a DISCONNECT with the reason code. The client's
    /// session remains, and its will is published. If the client is not connected, nothing happens.
    ///
    /// - Parameters:
    ///   - clientID: The client's id.
    ///   - reasonCode: The reason code; "administrative action" by default.
    public func disconnect(_ clientID: String, reasonCode: PacketReasonCode = .administrativeAction) {
        loop.execute { [host] in host.disconnect(clientID, reasonCode) }
    }

    /// Stops the broker: it drops its connections, and loses its sessions and messages. An event loop that was passed
    /// to ``start(on:tls:webSocket:configuration:loop:)`` continues.
    public func shutdown() async {
        listener.close()
        if ownsLoop { return await loop.shutdown() }
        await withCheckedContinuation { continuation in
            loop.execute { [host] in
                host.shutDown()
                continuation.resume()
            }
        }
    }
}

/// The broker machine and its connections.
///
/// Safe to share: all state is used only on the loop, which each method checks.
private final class BrokerHost: @unchecked Sendable {
    private let loop: EventLoop
    private var machine: BrokerMachine
    private var connections: [ConnectionID: BrokerConnection] = [:]
    /// Connections that the machine has ended and whose channels have not yet reported that they are closed.
    private var closing: [ConnectionID: BrokerConnection] = [:]
    private var actions: [BrokerMachine.Action] = []
    private var lastID: UInt64 = 0
    private var timer: TimerToken?
    private var timerDeadline: ContinuousClock.Instant?
    private var isPerforming = false
    private var isShutDown = false

    init(_ configuration: BrokerConfiguration, on loop: EventLoop) {
        self.loop = loop
        machine = BrokerMachine(configuration: configuration)
    }

    /// Returns a new connection for an accepted channel. After `shutDown()`, the connection is aborted.
    func accept(_ channel: ByteChannel) -> BrokerConnection {
        loop.preconditionOnLoop()
        lastID += 1
        let connection = BrokerConnection(
            ConnectionID(rawValue: lastID), channel, self, limits: machine.configuration.decoderLimits)
        connections[connection.id] = connection
        if isShutDown { loop.execute { connection.abort() } }
        return connection
    }

    func disconnect(_ clientID: String, _ reasonCode: PacketReasonCode) {
        tell { $0.disconnect(clientID, reasonCode: reasonCode, now: $1, into: &$2) }
    }

    func opened(_ id: ConnectionID) { tell { $0.connectionOpened(id, now: $1, into: &$2) } }

    func received(_ packet: Packet, from id: ConnectionID) {
        tell { $0.received(packet, from: id, now: $1, into: &$2) }
    }

    func receivedMalformed(_ error: DecodeError, from id: ConnectionID) {
        tell { $0.receivedMalformed(error, from: id, now: $1, into: &$2) }
    }

    func lost(_ id: ConnectionID) {
        connections[id] = nil
        closing[id] = nil
        tell { $0.connectionLost(id, now: $1, into: &$2) }
    }

    func congested(_ id: ConnectionID) { machine.connectionCongested(id) }

    func drained(_ id: ConnectionID) { tell { $0.connectionDrained(id, now: $1, into: &$2) } }

    func dropConnections() {
        loop.preconditionOnLoop()
        for connection in connections.values { connection.abort() }
    }

    /// Drops all connections, and ignores all later events.
    func shutDown() {
        dropConnections()
        for connection in closing.values { connection.abort() }
        isShutDown = true
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func tell(
        _ input: (inout BrokerMachine, ContinuousClock.Instant, inout [BrokerMachine.Action]) -> Void
    ) {
        loop.preconditionOnLoop()
        if isShutDown { return }
        input(&machine, loop.now, &actions)
        perform()
        setTimer()
    }

    private func perform() {
        guard !isPerforming else { return }
        isPerforming = true
        var touched: Set<ConnectionID> = []
        while !actions.isEmpty {
            let batch = actions
            actions.removeAll(keepingCapacity: true)
            for action in batch {
                switch action {
                case .setVersion(let version, let id): connections[id]?.setVersion(version)
                case .send(let packet, let id):
                    connections[id]?.append(packet)
                    touched.insert(id)
                case .close(let id, _):
                    guard let connection = connections.removeValue(forKey: id) else { continue }
                    closing[id] = connection
                    connection.close()
                }
            }
        }
        isPerforming = false
        for id in touched { connections[id]?.flush() }
    }

    private func setTimer() {
        guard let deadline = machine.nextDeadline else { return }
        if let timerDeadline, timerDeadline <= deadline { return }
        if let timer { loop.cancel(timer) }
        timerDeadline = deadline
        timer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            timerDeadline = nil
            tell { $0.timerFired(now: $1, into: &$2) }
        }
    }
}

/// One connection of the broker, which decodes and encodes its packets.
///
/// Safe to share: mutable state is used only on the loop, where the channel calls this handler.
private final class BrokerConnection: ChannelHandler, @unchecked Sendable {
    let id: ConnectionID
    private let channel: ByteChannel
    private let host: BrokerHost
    private var decoder: PacketDecoder
    private var encoder: PacketEncoder
    private var buffer = PacketBuffer()
    private var isCongested = false
    private var isClosed = false

    init(_ id: ConnectionID, _ channel: ByteChannel, _ host: BrokerHost, limits: PacketDecoder.Limits) {
        self.id = id
        self.channel = channel
        self.host = host
        // Each CONNECT contains its MQTT version. Until CONNECT is decoded, the more lenient rules of 3.1.1 apply.
        decoder = PacketDecoder(version: .v311, sender: .client, limits: limits)
        encoder = PacketEncoder(version: .v311, sender: .server)
    }

    func setVersion(_ version: ProtocolVersion) {
        decoder.version = version
        encoder.version = version
    }

    func append(_ packet: Packet) {
        // The broker machine makes only packets that can be encoded, so this call does not fail.
        try? encoder.encode(packet, into: &buffer)
    }

    func flush() {
        guard !buffer.isEmpty else { return }
        buffer.withBytes { channel.write($0) }
        buffer.removeAll()
        guard channel.isAboveHighWater, !isCongested else { return }
        isCongested = true
        channel.pauseReading()
        host.congested(id)
    }

    func close() {
        flush()
        isClosed = true
        channel.close()
    }

    func abort() { channel.abort() }

    func opened(_ channel: ByteChannel) { host.opened(id) }

    func received(_ bytes: RawSpan) -> Int {
        var offset = 0
        do throws(DecodeError) {
            while !isClosed, !isCongested, case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
                host.received(try decoder.packet(frame, in: bytes), from: id)
                offset = frame.end
            }
        } catch {
            host.receivedMalformed(error, from: id)
        }
        return isClosed ? bytes.byteCount : offset
    }

    func fellBelowLowWater() {
        guard isCongested else { return }
        isCongested = false
        channel.resumeReading()
        host.drained(id)
    }

    func closed(_ reason: ChannelCloseReason) {
        isClosed = true
        host.lost(id)
    }
}

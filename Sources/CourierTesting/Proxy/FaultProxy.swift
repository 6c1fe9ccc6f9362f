public import CourierTransport

/// A proxy between MQTT clients and a broker that injects faults by rules, to test how both sides react.
///
/// ```swift
/// let proxy = try FaultProxy.start(
///     to: .tcp(host: "127.0.0.1", port: 1883), rules: [FaultRule("drop the third PUBACK")])
/// connect(to: "127.0.0.1", proxy.port)
/// proxy.add(try FaultRule("delay PUBLISH to a/# by 2 s"))
/// …
/// await proxy.shutdown()
/// ```
///
/// The proxy accepts any client, and opens one connection to the broker for each client. It supports MQTT 3.1, 3.1.1 and
/// 5.0 over TCP, Unix sockets and memory, without TLS and WebSocket. It forwards the original bytes of each packet, also
/// if they violate the specification. It decodes packets only to compare them with rules. If the length of a packet is
/// malformed, the proxy closes both sides. An incomplete packet at the end of a connection is not forwarded.
///
/// Memory is limited: if one side does not read, the proxy stops reading the other side. A packet of more than
/// ``heldPacketSize`` is forwarded in parts. Rules then see its type and, for PUBLISH, its topic.
///
/// Any thread may call the methods, but a task that runs on the proxy's loop must not await ``shutdown()``.
public final class FaultProxy: Sendable {
    /// The size of the largest packet that the proxy holds as a whole: 1 MiB.
    public static let heldPacketSize = 1 << 20

    /// The endpoint that clients connect to.
    public let endpoint: TransportEndpoint
    /// The TCP port that clients connect to; 0 for a Unix socket.
    public let port: UInt16

    private let loop: EventLoop
    private let ownsLoop: Bool
    private let listener: ChannelListener
    private let host: ProxyHost

    private init(_ loop: EventLoop, ownsLoop: Bool, _ listener: ChannelListener, _ host: ProxyHost) {
        self.loop = loop
        self.ownsLoop = ownsLoop
        self.listener = listener
        self.host = host
        endpoint = listener.endpoint
        port = listener.port
    }

    /// Starts a proxy, and returns it when clients can connect.
    ///
    /// - Parameters:
    ///   - broker: The endpoint of the broker. The expression is evaluated for each connection.
    ///   - address: The address to listen on; a free port of 127.0.0.1 by default.
    ///   - rules: The first rules; none by default.
    ///   - loop: The event loop of the proxy; by default its own loop, in real time.
    ///   - observer: Receives all events, in their order; none by default. It is called on the loop and must not block.
    /// - Returns: The proxy, which runs until ``shutdown()``.
    /// - Throws: `TransportError` when the address cannot be listened on.
    public static func start(
        to broker: @autoclosure @escaping @Sendable () -> TransportEndpoint,
        listening address: ChannelListener.Address = .tcp(), rules: [FaultRule] = [], on loop: EventLoop? = nil,
        observer: (@Sendable (ProxyEvent) -> Void)? = nil
    ) throws(TransportError) -> FaultProxy {
        let home: EventLoop
        if let loop { home = loop } else { home = try EventLoop(name: "fault-proxy") }
        let host = ProxyHost(broker, rules, on: home, observer)
        do throws(TransportError) {
            let listener = try ChannelListener.listen(on: address, options: channelOptions, loop: home) {
                host.accept($0)
            }
            return FaultProxy(home, ownsLoop: loop == nil, listener, host)
        } catch {
            if loop == nil { home.shutdownAndWait() }
            throw error
        }
    }

    /// The options of all connections. A side that has ended its output can still receive, as without a proxy.
    static var channelOptions: ChannelOptions {
        var options = ChannelOptions()
        options.staysOpenAfterInputClosed = true
        return options
    }

    /// Opens a connection in memory and returns the client's end.
    ///
    /// - Parameter capacity: The most bytes that are buffered in each direction; 64 KiB by default.
    /// - Returns: An endpoint for one connection.
    public func connectInMemory(capacity: Int = 64 << 10) -> TransportEndpoint {
        let (client, server) = MemoryStream.pair(capacity: capacity)
        loop.execute { [loop, host] in
            ByteChannel.accept(server, options: Self.channelOptions, on: loop) { host.accept($0) }
        }
        return .stream(client)
    }

    /// Adds a rule. It counts the packets that are received from now on.
    ///
    /// - Parameter rule: The rule.
    public func add(_ rule: FaultRule) { host.add(rule) }

    /// Removes all rules. Packets that are already delayed remain delayed.
    public func removeRules() { host.removeRules() }

    /// The counts since the start.
    public var counts: ProxyCounts { host.counts }

    /// Stops the proxy: it accepts no more connections and closes the open connections. Delayed packets are lost. An
    /// event loop that was passed to the proxy continues.
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
}

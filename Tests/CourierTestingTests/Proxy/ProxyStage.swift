import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport

/// A proxy and a scripted broker for one test. With a virtual clock, all parts are in memory and on one loop.
struct ProxyStage: Sendable {
    let proxy: FaultProxy
    let broker: ScriptedBroker
    let loop: EventLoop
    /// The events of the proxy so far.
    let events: Series<ProxyEvent>
    let isInMemory: Bool

    /// Runs `body` with a started stage, and stops it afterwards.
    static func run(
        _ rules: [String] = [], _ script: [ConnectionScript] = [], afterwards: [ScriptStep] = [],
        clock: VirtualClock? = nil, _ body: (ProxyStage) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "proxy-test", clock: clock ?? RealLoopClock())
        let shared = clock == nil ? nil : loop
        let broker = try ScriptedBroker.start(script, afterwards: afterwards, on: shared)
        let events = Series<ProxyEvent>()
        let isInMemory = clock != nil
        let proxy = try FaultProxy.start(
            to: isInMemory ? broker.connectInMemory() : broker.endpoint, rules: rules.map { try FaultRule($0) },
            on: shared
        ) { events.append($0) }
        var failure: (any Error)?
        do {
            try await body(
                ProxyStage(proxy: proxy, broker: broker, loop: loop, events: events, isInMemory: isInMemory))
        } catch {
            failure = error
        }
        await proxy.shutdown()
        await broker.shutdown()
        await loop.shutdown()
        if let failure { throw failure }
    }

    /// Connects a client through the proxy, and sends CONNECT.
    func client(_ version: ProtocolVersion = .v5, _ clientID: String = "client") async -> ScriptedClient {
        await ScriptedClient.connect(
            isInMemory ? proxy.connectInMemory() : proxy.endpoint, version, clientID: clientID, on: loop)
    }

    /// The packets that the proxy has handled so far.
    var packets: [ProxiedPacket] {
        events.values.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }

    /// The reasons of the ended connections so far.
    var endings: [ProxyCloseReason] {
        events.values.compactMap { if case .closed(_, let reason) = $0 { reason } else { nil } }
    }
}

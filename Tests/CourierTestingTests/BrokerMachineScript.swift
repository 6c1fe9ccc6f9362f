import CourierTesting
import MQTTCodec
import TestSupport
import Testing

/// A broker with a clock that only the test advances.
///
/// Packets of the test and of the broker are encoded and decoded, as over a real connection.
/// A packet from the broker that cannot be encoded, or that follows a close, is recorded as an issue.
struct BrokerScript {
    typealias Action = BrokerMachine.Action

    private(set) var machine: BrokerMachine
    private(set) var now = ContinuousClock.now
    private var versions: [ConnectionID: ProtocolVersion] = [:]
    private var closed: Set<ConnectionID> = []

    init(_ adjust: (inout BrokerConfiguration) -> Void = { _ in }) {
        var configuration = BrokerConfiguration()
        adjust(&configuration)
        machine = BrokerMachine(configuration: configuration)
    }

    @discardableResult
    mutating func open(_ id: ConnectionID) -> [Action] {
        perform { $0.connectionOpened(id, now: $1, into: &$2) }
    }

    @discardableResult
    mutating func receive(
        _ packet: Packet, from id: ConnectionID, at location: SourceLocation = #_sourceLocation
    ) -> [Action] {
        var version = versions[id] ?? .v5
        if case .connect(let connect) = packet { version = connect.version }
        do {
            let decoded = try decode(try encode(packet, version, from: .client), version, from: .client)
            if decoded != packet { Issue.record("\(packet) was read otherwise", sourceLocation: location) }
        } catch {
            Issue.record("\(packet) cannot be sent: \(error)", sourceLocation: location)
        }
        return perform { $0.received(packet, from: id, now: $1, into: &$2) }
    }

    /// Sends bytes that are not a valid packet.
    mutating func receive(malformed bytes: [UInt8], from id: ConnectionID) -> [Action] {
        do {
            _ = try decode(bytes, versions[id] ?? .v5, from: .client, limits: machine.configuration.decoderLimits)
            Issue.record("the bytes are a packet")
            return []
        } catch {
            return perform { $0.receivedMalformed(error, from: id, now: $1, into: &$2) }
        }
    }

    @discardableResult
    mutating func lose(_ id: ConnectionID) -> [Action] {
        perform { $0.connectionLost(id, now: $1, into: &$2) }
    }

    /// Advances the clock and fires the timer at each deadline until then.
    @discardableResult
    mutating func advance(_ duration: Duration) -> [Action] {
        let end = now.advanced(by: duration)
        var actions: [Action] = []
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            actions += perform { $0.timerFired(now: $1, into: &$2) }
            if machine.nextDeadline == deadline {
                Issue.record("the deadline does not move")
                break
            }
        }
        now = end
        return actions
    }

    /// Calls the broker machine and checks its actions.
    @discardableResult
    mutating func perform(
        _ input: (inout BrokerMachine, BrokerMachine.Instant, inout [Action]) -> Void
    ) -> [Action] {
        var actions: [Action] = []
        input(&machine, now, &actions)
        for action in actions { check(action) }
        return actions
    }

    private mutating func check(_ action: Action) {
        switch action {
        case .setVersion(let version, let id):
            #expect(versions[id] == nil, "a version is set once")
            versions[id] = version
        case .send(let packet, let id):
            if closed.contains(id) { Issue.record("\(packet) follows a close") }
            guard let version = versions[id] else {
                Issue.record("\(packet) without a version")
                return
            }
            do {
                let decoded = try decode(try encode(packet, version, from: .server), version, from: .server)
                if decoded != packet { Issue.record("\(packet) was read otherwise") }
            } catch {
                Issue.record("\(packet) cannot be sent: \(error)")
            }
        case .close(let id, _): #expect(closed.insert(id).inserted, "a connection is closed once")
        }
    }
}

extension BrokerScript {
    /// Opens a connection and sends CONNECT; returns the actions except `setVersion`.
    @discardableResult
    mutating func connect(
        _ id: ConnectionID, _ clientID: String, _ version: ProtocolVersion = .v5, isClean: Bool = true,
        keepAlive: UInt16 = 0, username: String? = nil, password: SecretBytes? = nil, will: Connect.Will? = nil,
        properties: PacketProperties = []
    ) -> [Action] {
        open(id)
        let connect = Connect(
            version: version, clientID: clientID, isCleanStart: isClean, keepAlive: keepAlive, username: username,
            password: password, will: will, properties: properties)
        return receive(.connect(connect), from: id).filter { $0 != .setVersion(version, of: id) }
    }

    /// Subscribes, and returns the actions after the SUBACK.
    @discardableResult
    mutating func subscribe(
        _ id: ConnectionID, _ subscriptions: Subscription..., properties: PacketProperties = []
    ) -> [Action] {
        let packet = Subscribe(packetID: 999, subscriptions: subscriptions, properties: properties)
        return Array(receive(.subscribe(packet), from: id).dropFirst())
    }

    /// Publishes, and returns the resulting actions.
    @discardableResult
    mutating func publish(
        _ id: ConnectionID, _ topic: String, _ payload: String = "x", _ delivery: Delivery = .atMostOnce,
        isRetained: Bool = false, properties: PacketProperties = []
    ) -> [Action] {
        receive(
            .publish(
                Publish(
                    topic: topic, payload: Array(payload.utf8), delivery: delivery, isRetained: isRetained,
                    properties: properties)),
            from: id)
    }
}

extension BrokerMachine.Action {
    /// A PUBLISH to a client.
    static func publish(
        _ id: ConnectionID, _ topic: String, _ payload: String = "x", _ delivery: Delivery = .atMostOnce,
        isRetained: Bool = false, properties: PacketProperties = []
    ) -> Self {
        .send(
            .publish(
                Publish(
                    topic: topic, payload: Array(payload.utf8), delivery: delivery, isRetained: isRetained,
                    properties: properties)),
            to: id)
    }

    static func pubAck(_ id: ConnectionID, _ packetID: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .send(.pubAck(Acknowledgement(packetID: packetID, reasonCode: code)), to: id)
    }
    static func pubRec(_ id: ConnectionID, _ packetID: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .send(.pubRec(Acknowledgement(packetID: packetID, reasonCode: code)), to: id)
    }
    static func pubRel(_ id: ConnectionID, _ packetID: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .send(.pubRel(Acknowledgement(packetID: packetID, reasonCode: code)), to: id)
    }
    static func pubComp(_ id: ConnectionID, _ packetID: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .send(.pubComp(Acknowledgement(packetID: packetID, reasonCode: code)), to: id)
    }
    static func subAck(_ id: ConnectionID, _ packetID: PacketID, _ codes: PacketReasonCode...) -> Self {
        .send(.subAck(SubAck(packetID: packetID, reasonCodes: codes)), to: id)
    }
    static func disconnect(_ id: ConnectionID, _ code: PacketReasonCode) -> Self {
        .send(.disconnect(Disconnect(reasonCode: code)), to: id)
    }

    /// The CONNACK of this action.
    var connAck: ConnAck? { if case .send(.connAck(let connAck), _) = self { connAck } else { nil } }
    /// The DISCONNECT of this action.
    var disconnect: Disconnect? { if case .send(.disconnect(let packet), _) = self { packet } else { nil } }
    /// The PUBLISH of this action.
    var publish: Publish? { if case .send(.publish(let publish), _) = self { publish } else { nil } }
}

extension [BrokerMachine.Action] {
    /// The actions after a protocol violation in MQTT 5.
    static func violation(_ id: ConnectionID, _ code: PacketReasonCode) -> Self {
        [.disconnect(id, code), .close(id, .protocolViolation(code))]
    }
}

extension Packet {
    static func pubAck(_ id: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .pubAck(Acknowledgement(packetID: id, reasonCode: code))
    }
    static func pubRec(_ id: PacketID, _ code: PacketReasonCode = .success) -> Self {
        .pubRec(Acknowledgement(packetID: id, reasonCode: code))
    }
    static func pubRel(_ id: PacketID) -> Self { .pubRel(Acknowledgement(packetID: id)) }
    static func pubComp(_ id: PacketID) -> Self { .pubComp(Acknowledgement(packetID: id)) }
}

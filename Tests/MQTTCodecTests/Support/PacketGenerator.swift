import TestSupport

@testable import MQTTCodec

/// Makes random packets that `sender` may send in `version`: valid by construction, with small values and edge cases mixed.
struct PacketGenerator {
    let version: ProtocolVersion
    let sender: Endpoint
    var random: SeededGenerator

    init(version: ProtocolVersion, sender: Endpoint, seed: UInt64) {
        self.version = version
        self.sender = sender
        random = SeededGenerator(seed: seed)
    }

    /// The packet types that `sender` may send.
    var types: [PacketType] {
        PacketType.allCases.filter { $0.maySend(sender, in: version) && ($0 != .auth || version >= .v5) }
    }

    mutating func packet() -> Packet { packet(random.pick(types)) }

    mutating func packet(_ type: PacketType) -> Packet {
        switch type {
        case .connect: .connect(connect())
        case .connAck: .connAck(connAck())
        case .publish: .publish(publish())
        case .pubAck: .pubAck(acknowledgement(type))
        case .pubRec: .pubRec(acknowledgement(type))
        case .pubRel: .pubRel(acknowledgement(type))
        case .pubComp: .pubComp(acknowledgement(type))
        case .subscribe: .subscribe(subscribe())
        case .subAck: .subAck(subAck())
        case .unsubscribe:
            .unsubscribe(
                Unsubscribe(
                    packetID: packetID(), filters: several { $0.filter() }, properties: properties(.unsubscribe)))
        case .unsubAck: .unsubAck(unsubAck())
        case .pingReq: .pingReq
        case .pingResp: .pingResp
        case .disconnect:
            .disconnect(
                version >= .v5
                    ? Disconnect(reasonCode: code(.disconnect), properties: properties(.disconnect)) : Disconnect())
        case .auth: .auth(auth())
        }
    }

    private mutating func connect() -> Connect {
        let username = random.flag() ? text() : nil
        let isCleanStart = random.flag()
        var clientID = text()
        if clientID.isEmpty, version == .v31 || (version == .v311 && !isCleanStart) { clientID = "c" }
        return Connect(
            version: version, clientID: clientID, isCleanStart: isCleanStart, keepAlive: number16(),
            username: username,
            password: (username != nil || version >= .v5) && random.flag() ? SecretBytes(bytes()) : nil,
            will: random.flag() ? will() : nil, properties: properties(.connect))
    }

    private mutating func will() -> Connect.Will {
        Connect.Will(
            topic: topic(), payload: bytes(), qos: random.pick(PacketQoS.allCases), isRetained: random.flag(),
            properties: properties(.will))
    }

    private mutating func connAck() -> ConnAck {
        let codes =
            version >= .v5
            ? PacketReasonCode.allCases.filter { $0.isAllowed(in: .connAck, from: sender) }
            : PacketReasonCode.allCases.filter { $0.oldConnAckCode != nil }
        let code = random.flag() ? .success : random.pick(codes)
        return ConnAck(
            isSessionPresent: version > .v31 && code == .success && random.flag(), reasonCode: code,
            properties: properties(.connAck))
    }

    mutating func publish() -> Publish {
        let properties = properties(.publish)
        let delivery: Delivery =
            switch random.pick(PacketQoS.allCases) {
            case .atMostOnce: .atMostOnce
            case .atLeastOnce: .atLeastOnce(packetID(), isDuplicate: random.flag())
            case .exactlyOnce: .exactlyOnce(packetID(), isDuplicate: random.flag())
            }
        return Publish(
            topic: properties.topicAlias != nil && random.flag() ? "" : topic(), payload: bytes(),
            delivery: delivery, isRetained: random.flag(), properties: properties)
    }

    private mutating func acknowledgement(_ type: PacketType) -> Acknowledgement {
        guard version >= .v5 else { return Acknowledgement(packetID: packetID()) }
        return Acknowledgement(
            packetID: packetID(), reasonCode: code(type), properties: properties(PropertyPlaces(type)))
    }

    private mutating func subscribe() -> Subscribe {
        Subscribe(
            packetID: packetID(), subscriptions: several { $0.subscription() }, properties: properties(.subscribe))
    }

    private mutating func subscription() -> Subscription {
        let filter = filter()
        let qos = random.pick(PacketQoS.allCases)
        guard version >= .v5 else { return Subscription(filter, qos: qos) }
        return Subscription(
            filter, qos: qos, isNoLocal: !filter.hasPrefix("$share/") && random.flag(),
            isRetainAsPublished: random.flag(), retainHandling: random.pick(Subscription.RetainHandling.allCases))
    }

    private mutating func subAck() -> SubAck {
        let codes: [PacketReasonCode] =
            version >= .v5
            ? several { $0.code(.subAck) }
            : several { $0.random.pick([.success, .grantedQoS1, .grantedQoS2, .unspecifiedError]) }
        return SubAck(packetID: packetID(), reasonCodes: codes, properties: properties(.subAck))
    }

    private mutating func unsubAck() -> UnsubAck {
        UnsubAck(
            packetID: packetID(), reasonCodes: version >= .v5 ? several { $0.code(.unsubAck) } : [],
            properties: properties(.unsubAck))
    }

    private mutating func auth() -> Auth {
        if sender == .server, random.chance(1, in: 8) { return Auth(reasonCode: .success, properties: []) }
        var properties = properties(.auth)
        if properties.authenticationMethod == nil { properties.append(.authenticationMethod(text())) }
        return Auth(reasonCode: code(.auth), properties: properties)
    }

    private mutating func code(_ type: PacketType) -> PacketReasonCode {
        random.pick(PacketReasonCode.allCases.filter { $0.isAllowed(in: type, from: sender) })
    }

    /// Random properties that are allowed at `place`: half of the time none, otherwise any of them in any order.
    mutating func properties(_ place: PropertyPlaces) -> PacketProperties {
        guard version >= .v5, random.flag() else { return [] }
        var list: [Property] = []
        for id in PropertyID.allCases.shuffled(using: &random)
        where id.allowedPlaces.contains(place) && id.maySend(sender, at: place) && random.flag() {
            let count = id.mayRepeat(at: place) ? Int.random(in: 1...3, using: &random) : 1
            for _ in 0..<count { list.append(property(id)) }
        }
        if list.contains(where: { $0.id == .authenticationData }),
            !list.contains(where: { $0.id == .authenticationMethod })
        {
            list.append(.authenticationMethod("m"))
        }
        return PacketProperties(list)
    }

    /// A random property with this identifier.
    mutating func property(_ id: PropertyID) -> Property {
        switch id {
        case .payloadFormatIndicator: .payloadFormatIndicator(isText: random.flag())
        case .messageExpiryInterval: .messageExpiryInterval(number32())
        case .contentType: .contentType(text())
        case .responseTopic: .responseTopic(topic())
        case .correlationData: .correlationData(bytes())
        case .subscriptionIdentifier:
            .subscriptionIdentifier(random.pick([1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455]))
        case .sessionExpiryInterval: .sessionExpiryInterval(number32())
        case .assignedClientIdentifier: .assignedClientIdentifier(text())
        case .serverKeepAlive: .serverKeepAlive(number16())
        case .authenticationMethod: .authenticationMethod(text())
        case .authenticationData: .authenticationData(SecretBytes(bytes()))
        case .requestProblemInformation: .requestProblemInformation(random.flag())
        case .willDelayInterval: .willDelayInterval(number32())
        case .requestResponseInformation: .requestResponseInformation(random.flag())
        case .responseInformation: .responseInformation(text())
        case .serverReference: .serverReference(text())
        case .reasonString: .reasonString(text())
        case .receiveMaximum: .receiveMaximum(max(1, number16()))
        case .topicAliasMaximum: .topicAliasMaximum(number16())
        case .topicAlias: .topicAlias(max(1, number16()))
        case .maximumQoS: .maximumQoS(random.flag() ? .atLeastOnce : .atMostOnce)
        case .retainAvailable: .retainAvailable(random.flag())
        case .userProperty: .userProperty(name: text(), value: text())
        case .maximumPacketSize: .maximumPacketSize(max(1, number32()))
        case .wildcardSubscriptionAvailable: .wildcardSubscriptionAvailable(random.flag())
        case .subscriptionIdentifiersAvailable: .subscriptionIdentifiersAvailable(random.flag())
        case .sharedSubscriptionAvailable: .sharedSubscriptionAvailable(random.flag())
        }
    }

    private mutating func packetID() -> PacketID {
        PacketID(rawValue: random.pick([1, 2, 255, 256, 65_535, UInt16.random(in: 1...UInt16.max, using: &random)]))
            ?? 1
    }
    private mutating func number16() -> UInt16 {
        random.pick([0, 1, 255, 256, UInt16.max, UInt16.random(in: 0...UInt16.max, using: &random)])
    }
    private mutating func number32() -> UInt32 {
        random.pick([0, 1, 65_536, UInt32.max, UInt32.random(in: 0...UInt32.max, using: &random)])
    }

    private mutating func several<Element>(_ make: (inout Self) -> Element) -> [Element] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in make(&self) }
    }

    /// Random text with characters of all UTF-8 lengths: usually up to 40 characters, rarely up to 15,000 characters.
    private mutating func text() -> String {
        let alphabet: [Character] = [
            "a", "Z", "0", "/", " ", "$", "é", "ß", "€", "中", "\u{FEFF}", "😀", "\u{1}", "e\u{301}",
        ]
        let length =
            random.chance(1, in: 50)
            ? Int.random(in: 100...20_000, using: &random) : Int.random(in: 0...40, using: &random)
        return String((0..<length).map { _ in random.pick(alphabet) }.prefix(15_000))
    }

    private mutating func topic() -> String {
        let name = text()
        return name.isEmpty ? "/" : name
    }

    private mutating func filter() -> String {
        let levels = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            random.pick(["a", "", "+", "é中", "$SYS", "level"])
        }
        var filter = levels.joined(separator: "/")
        if random.chance(1, in: 4) { filter = filter.isEmpty ? "#" : filter + "/#" }
        if filter.isEmpty { filter = "/" }
        return random.chance(1, in: 5) ? "$share/group/" + filter : filter
    }

    private mutating func bytes() -> [UInt8] {
        let count = random.pick([0, 1, 8, 64, 100, 127, 128, random.chance(1, in: 50) ? 20_000 : 300])
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

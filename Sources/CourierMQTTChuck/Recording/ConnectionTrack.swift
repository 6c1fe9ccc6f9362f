import CourierCore
import MQTTCodec

/// The state of one connection: its open exchanges, its topic aliases and its connection state.
struct ConnectionTrack {
    typealias Start = ExchangeTable.Start

    let connection: MQTTChuckConnection
    private let epoch: Int64
    private let openedInstant: ContinuousClock.Instant
    let isRestored: Bool
    let isVersion5: Bool
    private let outgoingDecoder: PacketDecoder
    private let incomingDecoder: PacketDecoder

    /// True if the connection was forgotten and its slot can be used for another connection.
    var isForgotten = false
    /// The number of slabs with packets of this connection. A slab holds the packets of one read or write.
    var slabCount = 0
    private(set) var state = MQTTChuckConnectionState.connecting
    /// True after an accepting CONNACK was read, until `ConnectionBook` has handled it.
    var wasAccepted = false
    private(set) var lastTime: Int64
    /// The open exchanges that the client began.
    var own = ExchangeTable()
    /// The open exchanges that the broker began.
    var peers = ExchangeTable()
    private var connect: Start?
    private var ping: Start?
    private var outgoingAliases = AliasHistory()
    private var incomingAliases = AliasHistory()

    /// Creates the state of a connection of this process, or of a connection from a file.
    init(_ connection: MQTTChuckConnection, openedInstant: ContinuousClock.Instant, isRestored: Bool = false) {
        self.connection = connection
        self.openedInstant = openedInstant
        self.isRestored = isRestored
        epoch = connection.openedNanoseconds
        lastTime = connection.openedNanoseconds
        isVersion5 = connection.protocolVersion == .v5
        let limits = PacketDecoder.Limits(maximumPacketSize: PacketEncoder.largestPacketSize)
        outgoingDecoder = PacketDecoder(version: connection.codecVersion, sender: .client, limits: limits)
        incomingDecoder = PacketDecoder(version: connection.codecVersion, sender: .server, limits: limits)
    }

    /// Returns the wall-clock time of an instant, in nanoseconds since 1970.
    func time(_ instant: ContinuousClock.Instant) -> Int64 {
        Nanoseconds.sum(epoch, Nanoseconds.of(openedInstant.duration(to: instant)))
    }

    func decoder(_ direction: PacketBatch.Direction) -> PacketDecoder {
        direction == .outgoing ? outgoingDecoder : incomingDecoder
    }

    /// The numbers that this connection adds to the counts of open connections and open exchanges.
    @inline(__always) var load: ConnectionLoad {
        ConnectionLoad(
            open: state == .connected ? 1 : 0, own: isRestored ? 0 : own.count, peers: isRestored ? 0 : peers.count)
    }

    var status: MQTTChuckConnectionStatus {
        MQTTChuckConnectionStatus(
            connection: connection, state: state, lastPacketNanoseconds: lastTime, inFlight: own.count + peers.count)
    }

    /// Marks the connection as replaced by a later connection. Forgets its open exchanges, because no more packets of
    /// them can follow.
    mutating func supersede() {
        if state.isLive { state = .superseded }
        own.removeAll()
        peers.removeAll()
    }

    func aliasMeaning(_ alias: UInt16, _ direction: PacketBatch.Direction, at row: UInt64) -> String? {
        (direction == .outgoing ? outgoingAliases : incomingAliases).meaning(of: alias, at: row)?.topic
    }
}

/// The part of the logger's state that reading a batch needs and updates.
struct RecordingContext {
    let redactor: Redactor
    var tally = Tally()
    var links = ExchangeLinks()
    /// The number of the oldest row that the logger may still read.
    var oldestRow: UInt64 = 1
}

// MARK: - Reading a batch

extension ConnectionTrack {
    /// Reads the packets of a batch, and updates the state of the connection. Returns the bytes to store. The first
    /// packet gets row `firstRow`.
    mutating func read(
        _ batch: [UInt8], _ direction: PacketBatch.Direction, time: Int64, firstRow: UInt64, _ limits: SlabLimits,
        _ context: inout RecordingContext
    ) -> KeptBatch {
        batch.withSpan { read($0, direction, time: time, firstRow: firstRow, limits, &context) }
    }

    @inline(__always)
    private mutating func read(
        _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, time: Int64, firstRow: UInt64, _ limits: SlabLimits,
        _ context: inout RecordingContext
    ) -> KeptBatch {
        var kept = KeptBatch(limits, byteCount: bytes.count)
        var row = firstRow
        var offset = 0
        lastTime = max(lastTime, time)
        while offset < bytes.count {
            if kept.isWhole {
                let run = readRun(bytes, at: offset, direction, row, time, limits.packetSize, &context)
                if run.count > 0 {
                    kept.keepAsTheyAre(run.count)
                    row &+= UInt64(run.count)
                    offset = run.end
                    continue
                }
            }
            guard let header = PacketHeader(bytes, at: offset) else {
                // The remaining bytes are not a packet and may contain a secret, so `keepTail` masks them.
                context.tally.malformed &+= 1
                context.tally.count(bytes[offset] &>> 4, direction, size: bytes.count &- offset)
                kept.keepTail(bytes, from: offset)
                return kept
            }
            context.tally.count(header.typeBits, direction, size: header.size)
            let rewritten = take(header, bytes, direction, row, time, &context)
            kept.keep(header, bytes, rewritten)
            row &+= 1
            offset = header.end
        }
        return kept
    }

    /// Reads a packet, and updates the state of the connection. Returns the redacted bytes, or `nil` if the packet is
    /// stored unchanged.
    @inline(__always)
    private mutating func take(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        _ context: inout RecordingContext
    ) -> [UInt8]? {
        switch header.typeBits {
        case PacketType.publish.rawValue:
            return publish(header, bytes, direction, row, time, &context)
        case PacketType.pubAck.rawValue:
            answer(header, bytes, direction, row, time, isLast: true, &context)
        case PacketType.pubRec.rawValue:
            let isLast = header.bodySize > 2 && bytes[header.bodyStart &+ 2] >= 0x80
            answer(header, bytes, direction, row, time, isLast: isLast, &context)
        case PacketType.pubRel.rawValue: release(header, bytes, direction, row, time, &context)
        case PacketType.pubComp.rawValue: answer(header, bytes, direction, row, time, isLast: true, &context)
        default: return rare(header, bytes, direction, row, time, &context)
        }
        guard header.bodySize > 2 else { return nil }
        if bytes[header.bodyStart &+ 2] >= 0x80 { context.tally.refusals &+= 1 }
        guard isVersion5, header.bodySize > 4 else { return nil }
        return context.redactor.packet(header, bytes, decoder(direction))
    }

    @inline(__always)
    private mutating func publish(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        _ context: inout RecordingContext
    ) -> [UInt8]? {
        var index = header.bodyStart &+ 2 &+ Int(header.number(bytes, at: header.bodyStart))
        if header.qosBits != 0 {
            let id = header.number(bytes, at: index)
            index &+= 2
            if direction == .outgoing {
                Self.begin(&own, id, header, row, time, &context.links)
            } else {
                Self.begin(&peers, id, header, row, time, &context.links)
            }
        }
        let hasProperties = isVersion5 && index < header.end && bytes[index] != 0
        guard hasProperties || context.redactor.hasTopicRules else { return nil }
        return publishWithProperties(header, bytes, direction, row, propertiesAt: index, context)
    }

    @inline(__always)
    private static func begin(
        _ table: inout ExchangeTable, _ id: UInt16, _ header: PacketHeader, _ row: UInt64, _ time: Int64,
        _ links: inout ExchangeLinks
    ) {
        if id == 0 { return }
        if header.isDuplicate, let start = table.start(id) {
            links.append(
                ExchangeLink(
                    row: row, start: start.row, elapsed: Nanoseconds.difference(time, start.time), isLast: false))
        } else {
            table.open(Start(row: row, time: time, id: id, qos: header.qosBits))
        }
    }

    /// The slow path for a PUBLISH that has properties or that a redaction rule may hide.
    private mutating func publishWithProperties(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64,
        propertiesAt index: Int, _ context: RecordingContext
    ) -> [UInt8]? {
        let topic = header.bodyStart &+ 2..<header.bodyStart &+ 2 &+ Int(header.number(bytes, at: header.bodyStart))
        let redactor = context.redactor
        let decoder = decoder(direction)
        // A fast path for packets whose only property is a topic alias, because clients with aliases send many of them.
        if !redactor.hasTopicRules, index &+ 4 <= header.end, bytes[index] == 3,
            bytes[index &+ 1] == PropertyID.topicAlias.rawValue
        {
            let alias = header.number(bytes, at: index &+ 2)
            note(alias, bytes.extracting(topic), direction, row, context)
            return nil
        }
        guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes.bytes, at: header.start),
            let view = try? decoder.publish(frame, in: bytes.bytes)
        else { return redactor.overwritten(header, bytes) }
        var isHidden = false
        if let alias = view.topicAlias {
            note(alias, bytes.extracting(view.topic), direction, row, context)
            // If the topic of the alias is not known, it may match a redaction rule. So the message is hidden if there
            // are rules.
            isHidden = currentMeaning(alias, direction)?.isHidden ?? redactor.hasTopicRules
        }
        return redactor.publish(frame, view, from: header.start, bytes, decoder, isHidden: isHidden)
    }

    /// If the PUBLISH gives its topic alias a new topic, records this topic.
    private mutating func note(
        _ alias: UInt16, _ topic: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64,
        _ context: RecordingContext
    ) {
        guard !topic.isEmpty else { return }
        let isKnown =
            direction == .outgoing
            ? outgoingAliases.isCurrent(alias, topic) : incomingAliases.isCurrent(alias, topic)
        if isKnown { return }
        define(alias, topic, direction, row, context)
    }

    /// Records the topic of an alias from a row on, masked if a redaction rule hides it.
    mutating func define(
        _ alias: UInt16, _ topic: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64,
        _ context: RecordingContext
    ) {
        let verdict = context.redactor.verdict(topic)
        let meaning = AliasHistory.Meaning(
            row: row, bytes: verdict.hidesTopic ? Redactor.masked(Array(topic)) : Array(topic),
            isHidden: verdict.isHidden)
        if direction == .outgoing {
            outgoingAliases.define(alias, meaning, oldestRow: context.oldestRow)
        } else {
            incomingAliases.define(alias, meaning, oldestRow: context.oldestRow)
        }
    }

    private func currentMeaning(_ alias: UInt16, _ direction: PacketBatch.Direction) -> AliasHistory.Meaning? {
        direction == .outgoing ? outgoingAliases.current(alias) : incomingAliases.current(alias)
    }

    // MARK: Exchanges

    /// Records a response to an exchange that the other end began.
    @inline(__always)
    private mutating func answer(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        isLast: Bool, _ context: inout RecordingContext
    ) {
        let id = header.number(bytes, at: header.bodyStart)
        if direction == .incoming {
            Self.answer(&own, id, header.typeBits, isOwn: true, row, time, isLast: isLast, &context)
        } else {
            Self.answer(&peers, id, header.typeBits, isOwn: false, row, time, isLast: isLast, &context)
        }
    }

    @inline(__always)
    private static func answer(
        _ table: inout ExchangeTable, _ id: UInt16, _ typeBits: UInt8, isOwn: Bool, _ row: UInt64, _ time: Int64,
        isLast: Bool, _ context: inout RecordingContext
    ) {
        guard let start = isLast ? table.close(id) : table.start(id) else { return }
        let elapsed = Nanoseconds.difference(time, start.time)
        context.links.append(ExchangeLink(row: row, start: start.row, elapsed: elapsed, isLast: isLast))
        if isLast, let kind = kind(typeBits, start.qos, isOwn: isOwn) { context.tally.latencies.count(kind, elapsed) }
    }

    /// Returns the kind of the exchange that a response ends. Returns `nil` if the exchange began on an earlier
    /// connection, or ended halfway with a refusal.
    @inline(__always)
    static func kind(_ typeBits: UInt8, _ qos: UInt8, isOwn: Bool) -> MQTTChuckExchangeKind? {
        switch (typeBits, qos) {
        case (PacketType.pubAck.rawValue, 1): isOwn ? .publishQoS1 : .deliveryQoS1
        case (PacketType.pubComp.rawValue, 2): isOwn ? .publishQoS2 : .deliveryQoS2
        case (PacketType.subAck.rawValue, _): .subscribe
        case (PacketType.unsubAck.rawValue, _): .unsubscribe
        default: nil
        }
    }

    /// Records a PUBREL, which starts the second half of a QoS 2 exchange. The first half may have been on an earlier
    /// connection.
    private mutating func release(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        _ context: inout RecordingContext
    ) {
        let id = header.number(bytes, at: header.bodyStart)
        if id == 0 { return }
        if let start = direction == .outgoing ? own.start(id) : peers.start(id) {
            let elapsed = Nanoseconds.difference(time, start.time)
            context.links.append(ExchangeLink(row: row, start: start.row, elapsed: elapsed, isLast: false))
        } else if direction == .outgoing {
            own.open(Start(row: row, time: time, id: id))
        } else {
            peers.open(Start(row: row, time: time, id: id))
        }
    }

    /// Reads a packet of a less frequent type, such as CONNECT, and updates the state of the connection. Returns the
    /// redacted bytes, or `nil` if the packet is stored unchanged.
    private mutating func rare(
        _ header: PacketHeader, _ bytes: Span<UInt8>, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        _ context: inout RecordingContext
    ) -> [UInt8]? {
        let body = header.bodyStart
        switch PacketType(rawValue: header.typeBits) {
        case .connect:
            connect = Start(row: row, time: time)
            context.tally.connections += 1
            if connection.ordinal > 1 { context.tally.reconnects += 1 }
        case .connAck:
            Self.finish(&connect, .connect, row, time, &context)
            if header.bodySize > 1, bytes[body + 1] != 0 {
                context.tally.refused += 1
                context.tally.refusals += 1
                state = .refused
            } else {
                context.tally.accepted += 1
                state = .connected
                wasAccepted = true
            }
        case .auth:
            if let connect {
                let elapsed = Nanoseconds.difference(time, connect.time)
                context.links.append(ExchangeLink(row: row, start: connect.row, elapsed: elapsed, isLast: false))
            }
        case .pingReq: ping = Start(row: row, time: time)
        case .pingResp: Self.finish(&ping, .ping, row, time, &context)
        case .subscribe, .unsubscribe:
            let id = header.number(bytes, at: body)
            if direction == .outgoing, id != 0 { own.open(Start(row: row, time: time, id: id)) }
        case .subAck, .unsubAck:
            if Self.hasRefusal(header, bytes, isVersion5: isVersion5) { context.tally.refusals += 1 }
            answer(header, bytes, direction, row, time, isLast: true, &context)
        case .disconnect:
            state = .disconnected
            if header.bodySize > 0, bytes[body] >= 0x80 { context.tally.refusals += 1 }
        case .publish, .pubAck, .pubRec, .pubRel, .pubComp: break
        case nil:
            context.tally.malformed += 1
            return context.redactor.overwritten(header, bytes)
        }
        return mayHoldSecret(header, bytes, context.redactor)
            ? context.redactor.packet(header, bytes, decoder(direction)) : nil
    }

    /// True if a packet other than PUBLISH and its acknowledgements may contain data to hide.
    private func mayHoldSecret(_ header: PacketHeader, _ bytes: Span<UInt8>, _ redactor: Redactor) -> Bool {
        switch PacketType(rawValue: header.typeBits) {
        case .connect: true
        case .auth: header.bodySize > 0
        case .connAck: isVersion5 && header.bodySize > 3
        case .subscribe, .unsubscribe: redactor.hidesTopics || isVersion5 && hasProperties(header, bytes)
        case .subAck, .unsubAck: isVersion5 && hasProperties(header, bytes)
        case .disconnect: isVersion5 && header.bodySize > 2
        case .publish, .pubAck, .pubRec, .pubRel, .pubComp, .pingReq, .pingResp, nil: false
        }
    }

    /// True if the packet has properties after its packet id.
    private func hasProperties(_ header: PacketHeader, _ bytes: Span<UInt8>) -> Bool {
        header.bodySize > 2 && bytes[header.bodyStart + 2] != 0
    }

    private static func finish(
        _ start: inout Start?, _ kind: MQTTChuckExchangeKind, _ row: UInt64, _ time: Int64,
        _ context: inout RecordingContext
    ) {
        guard let begun = start else { return }
        start = nil
        let elapsed = Nanoseconds.difference(time, begun.time)
        context.links.append(ExchangeLink(row: row, start: begun.row, elapsed: elapsed, isLast: true))
        context.tally.latencies.count(kind, elapsed)
    }

    /// True if a SUBACK or UNSUBACK refuses at least one filter.
    private static func hasRefusal(_ header: PacketHeader, _ bytes: Span<UInt8>, isVersion5: Bool) -> Bool {
        var index = header.bodyStart + 2
        if isVersion5 {
            var length = 0
            var shift = 0
            while index < header.end, shift <= 21 {
                let byte = bytes[index]
                length |= Int(byte & 0x7F) << shift
                index += 1
                shift += 7
                if byte < 0x80 { break }
            }
            index += length
        }
        while index < header.end {
            if bytes[index] >= 0x80 { return true }
            index += 1
        }
        return false
    }
}

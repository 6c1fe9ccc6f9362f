/// Writes the fields of one packet into a buffer. Throws an error for a field that a decoder may refuse.
///
/// Text is written first and then checked in the buffer. If a check fails, the encoder removes the whole packet.
struct FieldWriter {
    let packet: PacketType
    /// The MQTT version in which the packet is written. For CONNECT, the value is the version that the packet requests.
    var version: ProtocolVersion
    let sender: Endpoint

    func error(_ violation: Violation, _ field: PacketField) -> EncodeError {
        EncodeError(violation, in: packet, field)
    }

    /// Writes a UTF-8 string with its length, and checks it.
    func text(_ text: String, _ field: PacketField, into buffer: inout PacketBuffer) throws(EncodeError) {
        try write(text, field, into: &buffer) { TextRules.violation(inText: $0) }
    }

    /// Writes a topic name and checks it. An empty name is an error.
    @inline(__always)
    func topicName(_ name: String, _ field: PacketField, into buffer: inout PacketBuffer) throws(EncodeError) {
        try write(name, field, into: &buffer) { TextRules.violation(inTopicName: $0) }
    }

    /// Writes a topic filter and checks it.
    func topicFilter(_ filter: String, into buffer: inout PacketBuffer) throws(EncodeError) {
        let knowsSharing = version >= .v5
        try write(filter, .topicFilter, into: &buffer) {
            TextRules.violation(inTopicFilter: $0, knowsSharing: knowsSharing)
        }
    }

    /// Writes a two-byte length and then `bytes`.
    func binary(_ bytes: [UInt8], _ field: PacketField, into buffer: inout PacketBuffer) throws(EncodeError) {
        guard bytes.count <= UInt16.max else { throw error(.fieldTooLong(bytes.count), field) }
        buffer.append(UInt16(truncatingIfNeeded: bytes.count))
        buffer.append(bytes)
    }

    /// Writes an MQTT 5 reason code. Throws an error if `sender` may not send it in this packet.
    func reasonCode(_ code: PacketReasonCode, into buffer: inout PacketBuffer) throws(EncodeError) {
        guard code.isAllowed(in: packet, from: sender) else {
            throw error(.invalidReasonCode(code.rawValue), .reasonCode)
        }
        buffer.append(code.rawValue)
    }

    @inline(__always)
    private func write(
        _ text: String, _ field: PacketField, into buffer: inout PacketBuffer,
        _ check: (UnsafeRawBufferPointer) -> Violation?
    ) throws(EncodeError) {
        let count = text.utf8.count
        guard count <= UInt16.max else { throw error(.fieldTooLong(count), field) }
        buffer.append(lengthAndText: text, utf8Count: count)
        if let violation = buffer.withLast(count, check) { throw error(violation, field) }
    }
}

extension FieldWriter {
    /// Writes the length of a property list and then the list. Before MQTT 5, the list must be empty, and nothing is
    /// written.
    func properties(
        _ properties: PacketProperties, at place: PropertyPlaces, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard version >= .v5 else {
            guard properties.isEmpty else { throw error(.notInThisVersion, .properties) }
            return
        }
        guard !properties.isEmpty else { return buffer.append(0 as UInt8) }
        let start = buffer.position
        try list(properties, at: place, into: &buffer)
        let byteCount = buffer.byteCount(since: start)
        try checkPropertyLength(byteCount)
        buffer.insert(variableByteInteger: byteCount, at: start)
    }

    /// Writes an MQTT 5 property list without its length.
    func list(
        _ properties: PacketProperties, at place: PropertyPlaces, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        var seen: UInt64 = 0
        for property in properties.list {
            let id = property.id
            guard id.allowedPlaces.contains(place) else { throw error(.propertyNotAllowed(id), .property(id)) }
            guard id.maySend(sender, at: place) else { throw error(.propertyOfOtherEnd(id), .property(id)) }
            let bit: UInt64 = 1 &<< UInt64(id.rawValue)
            if seen & bit != 0, !id.mayRepeat(at: place) { throw error(.duplicateProperty(id), .property(id)) }
            seen |= bit
            try write(property, into: &buffer)
        }
        func hasSeen(_ id: PropertyID) -> Bool { seen & (1 &<< UInt64(id.rawValue)) != 0 }
        if place == .connect, hasSeen(.authenticationData), !hasSeen(.authenticationMethod) {
            throw error(.authenticationDataWithoutMethod, .properties)
        }
    }

    /// Throws an error if `byteCount` is larger than the largest possible length of a property list.
    func checkPropertyLength(_ byteCount: Int) throws(EncodeError) {
        guard byteCount <= VariableByteInteger.maximum else {
            throw error(
                .packetTooLarge(size: byteCount, limit: PacketEncoder.largestPacketSize), .propertyLength)
        }
    }

    private func write(_ property: Property, into buffer: inout PacketBuffer) throws(EncodeError) {
        let id = property.id
        let field = PacketField.property(id)
        buffer.append(id.rawValue)
        switch property.value {
        case .number(let number):
            guard id.accepts(number) else { throw error(.invalidPropertyValue(id), field) }
            switch id.kind {
            case .byte: buffer.append(UInt8(truncatingIfNeeded: number))
            case .twoBytes: buffer.append(UInt16(truncatingIfNeeded: number))
            case .variableByteInteger: buffer.append(variableByteInteger: Int(number))
            case .fourBytes, .text, .binary, .textPair: buffer.append(number)
            }
        case .text(let value):
            if id == .responseTopic {
                try topicName(value, field, into: &buffer)
            } else {
                try text(value, field, into: &buffer)
            }
        case .binary(let bytes): try binary(bytes, field, into: &buffer)
        case .textPair(let name, let value):
            try text(name, field, into: &buffer)
            try text(value, field, into: &buffer)
        }
    }

    /// Writes a content type property.
    func contentType(_ type: String, into buffer: inout PacketBuffer) throws(EncodeError) {
        buffer.append(PropertyID.contentType.rawValue)
        try text(type, .property(.contentType), into: &buffer)
    }

    /// Writes one user property.
    func userProperty(_ name: String, _ value: String, into buffer: inout PacketBuffer) throws(EncodeError) {
        buffer.append(PropertyID.userProperty.rawValue)
        try text(name, .property(.userProperty), into: &buffer)
        try text(value, .property(.userProperty), into: &buffer)
    }
}

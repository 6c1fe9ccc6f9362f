/// Reads one property list, and checks that each property is allowed in its packet.
struct PropertyReader {
    private var reader: ByteReader
    private let place: PropertyPlaces
    private let sender: Endpoint
    private let limit: Int
    /// False if an earlier read has already checked the texts.
    private let checksTexts: Bool
    private var count = 0
    /// A bit set of the property identifiers that were read so far. The set fits into 64 bits, because the highest
    /// identifier is 0x2A.
    private var seen: UInt64 = 0

    init(_ reader: ByteReader, at place: PropertyPlaces, _ decoder: PacketDecoder, checksTexts: Bool = true) {
        self.reader = reader
        self.checksTexts = checksTexts
        self.place = place
        sender = decoder.sender
        limit = decoder.limits.maximumProperties
    }

    /// Reads and returns the next property, or `nil` after the last property.
    mutating func next() throws(DecodeError) -> PropertyView? {
        guard reader.remaining > 0 else { return nil }
        let start = reader.offset
        let number = try reader.variableByteInteger(.properties)
        guard number <= UInt8.max, let id = PropertyID(rawValue: UInt8(truncatingIfNeeded: number)) else {
            throw reader.error(.unknownProperty(number), .properties, at: start)
        }
        func refusal(_ violation: Violation) -> DecodeError { reader.error(violation, .property(id), at: start) }
        if id != .userProperty {  // User properties may be in every list, any number of times.
            guard id.allowedPlaces.contains(place) else { throw refusal(.propertyNotAllowed(id)) }
            guard id.maySend(sender, at: place) else { throw refusal(.propertyOfOtherEnd(id)) }
            let bit: UInt64 = 1 &<< UInt64(id.rawValue)
            if seen & bit != 0, !id.mayRepeat(at: place) { throw refusal(.duplicateProperty(id)) }
            seen |= bit
        }
        count &+= 1
        if count > limit { throw refusal(.tooManyProperties(limit: limit)) }
        return try value(of: id)
    }

    /// The offset of the next property.
    var offset: Int { reader.offset }

    /// Returns true if a property with identifier `id` was read so far.
    func hasSeen(_ id: PropertyID) -> Bool { seen & (1 &<< UInt64(id.rawValue)) != 0 }

    private mutating func value(of id: PropertyID) throws(DecodeError) -> PropertyView {
        let field = PacketField.property(id)
        let start = reader.offset
        let number: UInt32
        switch id.kind {
        case .byte: number = UInt32(try reader.byte(field))
        case .twoBytes: number = UInt32(try reader.uint16(field))
        case .fourBytes: number = try reader.uint32(field)
        case .variableByteInteger: number = try reader.variableByteInteger(field)
        case .binary: return PropertyView(id: id, range: try reader.binary(field))
        case .text where !checksTexts: return PropertyView(id: id, range: try reader.binary(field))
        case .textPair where !checksTexts:
            return PropertyView(id: id, range: try reader.binary(field), secondRange: try reader.binary(field))
        case .text:
            let range = id == .responseTopic ? try reader.topicName(field) : try reader.text(field)
            return PropertyView(id: id, range: range)
        case .textPair:
            return PropertyView(id: id, range: try reader.text(field), secondRange: try reader.text(field))
        }
        guard id.accepts(number) else { throw reader.error(.invalidPropertyValue(id), field, at: start) }
        return PropertyView(id: id, number: number)
    }
}

extension PacketDecoder {
    /// Reads PUBLISH properties that ``PacketEncoder/encodePublishProperties(_:hasExpiry:into:)`` wrote.
    ///
    /// - Throws: ``DecodeError`` when the properties break the specification.
    package func publishProperties(_ bytes: UnsafeRawBufferPointer) throws(DecodeError) -> PacketProperties {
        try reader(of: bytes).properties(in: 0..<bytes.count, at: .publish, self)
    }

    /// Calls `body` with a copy of each PUBLISH property in `bytes`. The properties must have been checked before.
    package func forEachPublishProperty(in bytes: UnsafeRawBufferPointer, _ body: (Property) -> Void) {
        var properties = checkedProperties(bytes)
        while let property = try? properties.next() { body(Property(property, in: bytes)) }
    }

    /// Returns the subscription identifiers among the PUBLISH properties in `bytes`. The properties must have been
    /// checked before.
    package func subscriptionIdentifiers(in bytes: UnsafeRawBufferPointer) -> [UInt32] {
        var identifiers: [UInt32] = []
        var properties = checkedProperties(bytes)
        while let property = try? properties.next() {
            if property.id == .subscriptionIdentifier { identifiers.append(property.number) }
        }
        return identifiers
    }

    /// Copies the PUBLISH properties in `bytes`. Leaves out each subscription identifier for which `isKept` returns
    /// false. The properties must have been checked before.
    package func publishProperties(
        in bytes: UnsafeRawBufferPointer, keepingIdentifiers isKept: (UInt32) -> Bool
    ) -> [UInt8] {
        var kept: [UInt8] = []
        var properties = checkedProperties(bytes)
        var start = 0
        while let property = try? properties.next() {
            let end = properties.offset
            if property.id != .subscriptionIdentifier || isKept(property.number) { kept += bytes[start..<end] }
            start = end
        }
        return kept
    }

    private func checkedProperties(_ bytes: UnsafeRawBufferPointer) -> PropertyReader {
        PropertyReader(reader(of: bytes), at: .publish, self, checksTexts: false)
    }

    private func reader(of bytes: UnsafeRawBufferPointer) -> ByteReader {
        ByteReader(PacketFrame(type: .publish, flags: 0, start: 0, bodyStart: 0, end: bytes.count), in: bytes)
    }
}

extension ByteReader {
    /// Reads the length of a property list and returns the range of the list. Before MQTT 5, the range is empty.
    @inline(__always)
    mutating func propertyRange(in version: ProtocolVersion) throws(DecodeError) -> Range<Int> {
        guard version >= .v5 else { return offset..<offset }
        let start = offset
        let count = Int(try variableByteInteger(.propertyLength))
        guard remaining >= count else { throw error(.truncated, .propertyLength, at: start) }
        return skip(count)
    }

    /// Checks the properties in `range` and returns copies.
    func properties(
        in range: Range<Int>, at place: PropertyPlaces, _ decoder: PacketDecoder
    ) throws(DecodeError) -> PacketProperties {
        guard !range.isEmpty else { return PacketProperties() }
        var list: [Property] = []
        var properties = PropertyReader(ByteReader(range, of: self), at: place, decoder)
        while let view = try properties.next() { list.append(Property(view, in: bytes)) }
        // Authentication data in CONNECT requires a method (section 3.1.2.11.10). AUTH always needs a method. The
        // specification does not require a method in CONNACK.
        if place == .connect, properties.hasSeen(.authenticationData), !properties.hasSeen(.authenticationMethod) {
            throw error(.authenticationDataWithoutMethod, .properties, at: range.lowerBound)
        }
        return PacketProperties(list)
    }

    /// Reads the length of a property list and then the list. Before MQTT 5, returns an empty list.
    mutating func properties(
        at place: PropertyPlaces, _ decoder: PacketDecoder
    ) throws(DecodeError) -> PacketProperties {
        try properties(in: propertyRange(in: decoder.version), at: place, decoder)
    }
}

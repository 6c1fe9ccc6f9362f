import CourierCore

/// Reads the references between the objects of a binary property list, so that the list can be checked against the
/// ``PlistLimits``.
///
/// ```
/// bplist00 │ objects, each with a marker │ table: where each object begins │ trailer of 32 bytes
/// ```
struct BinaryPlist {
    /// The data about one object of the list that the check needs.
    private enum Object {
        /// A value without references, with the size of its text or data in bytes.
        case leaf(contentSize: Int)
        /// An array, a set or a dictionary, with the byte range of its references.
        case container(Range<Int>)
    }

    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    /// The byte offset of the table with the objects' offsets. The objects end where the table begins.
    private let table: Int

    /// Reads the trailer. Returns `nil` if the trailer is wrong. A list with a wrong trailer needs no check, because
    /// the decoder refuses the list before it reads an object.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 8 + Self.trailerSize else { return nil }
        let trailer = bytes.count - Self.trailerSize
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard let objectCount = Self.integer(bytes[(trailer + 8)..<(trailer + 16)]),
            let topObject = Self.integer(bytes[(trailer + 16)..<(trailer + 24)]),
            let table = Self.integer(bytes[(trailer + 24)...]),
            offsetSize > 0, referenceSize > 0, topObject < objectCount, table > 8, table < trailer,
            (trailer - table).isMultiple(of: offsetSize), objectCount == (trailer - table) / offsetSize
        else { return nil }
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = objectCount
        self.topObject = topObject
        self.table = table
    }

    /// Checks the list. Follows all references, because the decoder may follow them, too. An object counts once for
    /// each reference to it, because the decoder reads it once for each reference.
    ///
    /// - Throws: ``CourierError/Code/decodingFailed`` if the list exceeds the limits. `DecodingError` if a reference
    ///   points to no object, or an object does not end before the table.
    func check() throws {
        var valuesLeft = max(PlistLimits.valueCount, bytes.count)
        var contentLeft = max(PlistLimits.contentSize, bytes.count * PlistLimits.contentFactor)
        // The containers whose check has begun and not ended, the outermost first. Each container is represented by the
        // byte range of its references that are not followed yet.
        var open: [Range<Int>] = []
        var next: Int? = topObject
        while let index = next {
            valuesLeft -= 1
            switch try object(index) {
            case .leaf(let contentSize): contentLeft -= contentSize
            case .container(let references):
                open.append(references)
                if open.count > PlistLimits.depth { throw PlistLimits.tooDeep() }
            }
            if valuesLeft < 0 || contentLeft < 0 {
                throw CourierError(.decodingFailed, "the property list repeats its values too often")
            }
            next = try nextReference(&open)
        }
    }

    private func nextReference(_ open: inout [Range<Int>]) throws -> Int? {
        while let references = open.popLast() {
            guard !references.isEmpty else { continue }
            let end = references.lowerBound + referenceSize
            open.append(end..<references.upperBound)
            guard let index = Self.integer(bytes[references.lowerBound..<end]) else { throw Self.malformed }
            return index
        }
        return nil
    }

    private func object(_ index: Int) throws -> Object {
        guard index < objectCount else { throw Self.malformed }
        let entry = table + index * offsetSize
        guard let place = Self.integer(bytes[entry..<(entry + offsetSize)]), place < table else { throw Self.malformed }
        switch bytes[place] >> 4 {
        case 0x4, 0x5: return .leaf(contentSize: try content(at: place, unit: 1).count)  // Data or ASCII text
        case 0x6: return .leaf(contentSize: try content(at: place, unit: 2).count)  // UTF-16 text
        case 0xA, 0xC: return .container(try content(at: place, unit: referenceSize))  // Array or set
        case 0xD: return .container(try content(at: place, unit: 2 * referenceSize))  // Dictionary: keys, then values
        default: return .leaf(contentSize: 0)
        }
    }

    /// Returns the byte range of the content of the object at byte offset `place`. The object begins with the number of
    /// its elements. `unit` is the size of one element in bytes. In a dictionary, an element is a key and a value.
    private func content(at place: Int, unit: Int) throws -> Range<Int> {
        var count = Int(bytes[place] & 0x0F)
        var start = place + 1
        if count == 0x0F {
            guard start < table, bytes[start] >> 4 == 0x1 else { throw Self.malformed }
            let size = 1 << Int(bytes[start] & 0x0F)
            start += 1
            guard size <= table - start, let long = Self.integer(bytes[start..<(start + size)]) else {
                throw Self.malformed
            }
            count = long
            start += size
        }
        guard count <= (table - start) / unit else { throw Self.malformed }
        return start..<(start + count * unit)
    }

    private static var malformed: DecodingError { PlistLimits.malformed("An object is not well-formed.") }

    /// Reads a big-endian integer from the last eight bytes, or from all bytes if there are fewer. Returns `nil` if the
    /// integer does not fit `Int`.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

package import Foundation

/// Encodes message numbers as payloads. All bytes follow from the number, so that a damaged or wrong payload is found.
package enum MessageCode {
    private static let headerSize = 8

    /// Returns the payload of message `number` of a lane. Most payloads are small; some need several reads.
    package static func payload(lane: Int, number: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(lane) << 32 | UInt64(number))
        let limit = random.chance(5) ? 8_000 : 400
        let size = headerSize + random.below(limit)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: lane >> shift)) }
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        let filling = UInt8(truncatingIfNeeded: lane &+ number)
        while bytes.count < size { bytes.append(filling &+ UInt8(truncatingIfNeeded: bytes.count)) }
        return bytes
    }

    /// Returns the number of a payload; `nil` if any byte differs from this lane's payload of that number.
    package static func number(of data: Data, lane: Int) -> Int? {
        guard data.count >= headerSize else { return nil }
        let number = data.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return data.elementsEqual(payload(lane: lane, number: number)) ? number : nil
    }
}

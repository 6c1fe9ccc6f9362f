import Foundation

/// Makes the payloads of a bench run, and reads the send time from received payloads.
///
/// A payload also contains the number of its run, so that a run ignores the messages of other runs. A text or JSON
/// payload that is too small for both numbers contains only the send time.
struct BenchPayload: Sendable {
    /// The content of the payloads.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The send time and the number of the run in 8 bytes each, and then only zeros.
        case zeros
        /// The send time and the number of the run in 8 bytes each, and then random bytes.
        case random
        /// The send time and the number of the run in 16 hexadecimal digits each, and then letters.
        case text
        /// A JSON object with the send time and the number of the run in hexadecimal digits, and then letters.
        case json

        /// The beginning of a JSON payload, up to the send time.
        fileprivate static let opening = Array(#"{"sent":""#.utf8)
        /// The part of a JSON payload between the send time and the letters.
        fileprivate static let middle = Array(#"","data":""#.utf8)
        /// The end of a JSON payload.
        fileprivate static let closing = Array(#""}"#.utf8)

        /// The smallest size of a payload in bytes.
        var smallestSize: Int {
            switch self {
            case .zeros, .random, .text: BenchArguments.sizes.lowerBound
            case .json: Self.opening.count + BenchPayload.digitCount + Self.middle.count + Self.closing.count
            }
        }

        fileprivate var timeOffset: Int { self == .json ? Self.opening.count : 0 }
        /// The offset of the run's number in the payload. A payload that is too small does not contain this number.
        fileprivate var runOffset: Int {
            switch self {
            case .zeros, .random: MemoryLayout<UInt64>.size
            case .text: BenchPayload.digitCount
            case .json: Self.opening.count + BenchPayload.digitCount + Self.middle.count
            }
        }
        /// The number of bytes after the letters, at the end of a JSON payload; 0 for all other kinds of payloads.
        fileprivate var endSize: Int { self == .json ? Self.closing.count : 0 }
        fileprivate var hasDigits: Bool { self == .text || self == .json }
    }

    /// The number of hexadecimal digits of a send time or a run's number.
    private static let digitCount = 16
    /// The number of offsets in the random bytes at which a payload can begin.
    private static let randomPlaces = 4_096
    private static let digits = Array("0123456789abcdef".utf8)

    let kind: Kind
    let size: Int
    /// The number of this run. It is different for every run.
    private let run: UInt64
    private let containsRun: Bool
    /// A payload without its send time. For random payloads, it is longer than one payload, and each payload is a part
    /// of it.
    private let pattern: [UInt8]

    /// Creates payloads of `size` bytes, which must be at least the smallest size of the kind.
    init(_ kind: Kind, size: Int, run: UInt64 = .random(in: 0...(.max))) {
        self.kind = kind
        self.size = size
        self.run = run
        let runSize = kind.hasDigits ? Self.digitCount : MemoryLayout<UInt64>.size
        containsRun = size >= kind.runOffset + runSize + kind.endSize
        let letters = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        switch kind {
        case .zeros: pattern = [UInt8](repeating: 0, count: size)
        case .random: pattern = (0..<size + Self.randomPlaces).map { _ in .random(in: 0...255) }
        case .text: pattern = letters
        case .json:
            let time = [UInt8](repeating: UInt8(ascii: "0"), count: Self.digitCount)
            pattern =
                Kind.opening + time + Kind.middle + letters.prefix(max(0, size - kind.smallestSize)) + Kind.closing
        }
    }

    /// Returns a payload.
    ///
    /// - Parameters:
    ///   - sentAt: The send time in nanoseconds.
    ///   - number: The number of the message. It selects the random bytes.
    /// - Returns: The bytes.
    func bytes(sentAt: UInt64, number: Int) -> [UInt8] {
        var bytes = pattern
        if kind == .random {
            let start = number % Self.randomPlaces
            bytes = Array(pattern[start..<start + size])
        }
        write(sentAt, at: kind.timeOffset, into: &bytes)
        if containsRun { write(run, at: kind.runOffset, into: &bytes) }
        return bytes
    }

    private func write(_ number: UInt64, at offset: Int, into bytes: inout [UInt8]) {
        guard kind.hasDigits else {
            return bytes.withUnsafeMutableBytes {
                $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: UInt64.self)
            }
        }
        for index in 0..<Self.digitCount {
            let digit = Int(number >> UInt64(4 * (Self.digitCount - 1 - index)) & 15)
            bytes[offset + index] = Self.digits[digit]
        }
    }

    /// Reads the send time of a received payload.
    ///
    /// - Parameter payload: The payload.
    /// - Returns: The send time in nanoseconds, or `nil` if the payload cannot be a payload of this run.
    func sentAt(in payload: Data) -> UInt64? {
        guard payload.count == size, !containsRun || number(in: payload, at: kind.runOffset) == run else { return nil }
        return number(in: payload, at: kind.timeOffset)
    }

    private func number(in payload: Data, at offset: Int) -> UInt64? {
        guard kind.hasDigits else {
            return UInt64(
                littleEndian: payload.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) })
        }
        var number: UInt64 = 0
        for byte in payload.dropFirst(offset).prefix(Self.digitCount) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}

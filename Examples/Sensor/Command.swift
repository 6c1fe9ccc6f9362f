/// A command that the sensor receives on its topic `sensor/7/command`.
enum Command {
    /// `read 200`: publish this number of further readings, at most ``largestCount``.
    case read(Int)
    /// `led on` or `led off`.
    case led(Bool)
    /// `stop`: publish a last message, and disconnect.
    case stop

    /// The largest number of readings that one command may request.
    static let largestCount = 10_000

    /// Reads a command from the payload of a message. The result is `nil` for an unknown command.
    init?(_ payload: Slice<UnsafeRawBufferPointer>) {
        if payload.elementsEqual("led on".utf8) {
            self = .led(true)
        } else if payload.elementsEqual("led off".utf8) {
            self = .led(false)
        } else if payload.elementsEqual("stop".utf8) {
            self = .stop
        } else if payload.starts(with: "read ".utf8), let count = Self.count(payload.dropFirst(5)) {
            self = .read(count)
        } else {
            return nil
        }
    }

    private static func count(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard !digits.isEmpty, digits.count <= 5 else { return nil }
        var count = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            count = count * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return count <= largestCount ? count : nil
    }
}

/// Splits the input from a descriptor into lines.
struct LineReader {
    /// The maximum number of bytes that one read returns.
    static let chunk = 64 << 10

    private let descriptor: Int32
    private let longest: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var hasEnded = false
    /// The error of a failed read, or ``SystemError/tooLong`` for a line that is too long; otherwise `nil`.
    private(set) var problem: SystemError?
    /// The number of bytes that were read.
    private(set) var bytesRead = 0

    /// Creates a reader for lines of at most about `longest` bytes; by default, the maximum payload size.
    init(_ descriptor: Int32, longest: Int = Payload.sizeLimit) {
        self.descriptor = descriptor
        self.longest = longest
    }

    /// Returns the next line without its line end. Blocks until a line is available. Text after the last line end
    /// counts as a line. Returns `nil` at the end of the input and after an error.
    mutating func next() -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            searched = buffer.count
            if hasEnded {
                defer { start = buffer.count }
                return start < buffer.count ? buffer[start...] : nil
            }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            if buffer.count > longest {
                // The line is longer than the limit. Reading ends here, so that memory use is limited.
                (problem, hasEnded, buffer) = (.tooLong, true, [])
                return nil
            }
            fill()
        }
    }

    private mutating func fill() {
        let count = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
        var got = 0
        do throws(SystemError) { got = try FileDescriptor.readBytes(descriptor, into: &buffer, at: count) } catch {
            problem = error
        }
        buffer.removeLast(Self.chunk - got)
        bytesRead += got
        if got == 0 { hasEnded = true }
    }
}

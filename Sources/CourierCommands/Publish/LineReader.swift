import Glibc

/// Splits the input from a descriptor into lines.
struct LineReader {
    /// The maximum number of bytes of one read.
    static let chunk = 64 << 10

    private let descriptor: Int32
    private let longest: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var hasEnded = false
    /// The error number of a failed read, or `EMSGSIZE` for a line that is too long; otherwise `nil`.
    private(set) var problem: Int32?
    /// The number of bytes that were read.
    private(set) var bytesRead = 0

    /// Creates a reader for lines of at most about `longest` bytes; by default, the maximum payload size.
    init(_ descriptor: Int32, longest: Int = Payload.sizeLimit) {
        self.descriptor = descriptor
        self.longest = longest
    }

    /// Returns the size of the unread input in bytes; `nil` if the input is not a regular file.
    static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
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
                (problem, hasEnded, buffer) = (EMSGSIZE, true, [])
                return nil
            }
            fill()
        }
    }

    private mutating func fill() {
        let count = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
        while true {
            let got = buffer.withUnsafeMutableBytes { bytes in
                read(descriptor, bytes.baseAddress.map { $0 + count }, Self.chunk)
            }
            if got < 0, Payload.isWorthAnotherRead(descriptor) { continue }
            if got < 0 { problem = errno }
            buffer.removeLast(Self.chunk - max(0, got))
            bytesRead += max(0, got)
            if got <= 0 { hasEnded = true }
            return
        }
    }
}

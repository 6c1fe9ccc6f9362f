import Glibc

/// Splits the input from a descriptor into lines.
struct LineReader {
    /// The number of bytes per read.
    static let chunk = 64 << 10

    private let descriptor: Int32
    private let longest: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var hasEnded = false
    /// The error number of a failed read; `nil` at a normal end of the input.
    private(set) var problem: Int32?
    /// The number of bytes that were read.
    private(set) var bytesRead = 0

    /// A reader of lines of `longest` bytes at most, by default the largest payload.
    init(_ descriptor: Int32, longest: Int = Payload.sizeLimit) {
        self.descriptor = descriptor
        self.longest = longest
    }

    /// Returns the size of the remaining input; `nil` if it is not a file.
    static func size(of descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int(status.st_size) - max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
    }

    /// Returns the next line without its line end; `nil` after the last one. Blocks until a line is available. Text
    /// after the last line end counts as a line.
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
                // The line is longer than any message, so reading ends instead of buffering all of it.
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

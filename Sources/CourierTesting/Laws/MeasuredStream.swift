import CourierTransport
import Synchronization

/// A wrapper that forwards all calls to the tested stream and checks the numbers of bytes that the stream returns.
///
/// An impossible number, such as more bytes than the buffer holds, would crash the process in the channel. To avoid the
/// crash, the wrapper records the number and throws an error.
final class MeasuredStream: DuplexByteStream {
    private struct Held {
        weak var readiness: StreamReadiness?
        init(_ readiness: StreamReadiness) { self.readiness = readiness }
    }

    private struct State {
        var falseCount: String?
        var readiness: Held?
    }

    let stream: any DuplexByteStream
    private let bytesPerRead: Int
    private let state = Mutex(State())

    init(_ stream: any DuplexByteStream, bytesPerRead: Int) {
        self.stream = stream
        self.bytesPerRead = bytesPerRead
    }

    var name: String { stream.name }
    /// Whether the stream still holds the readiness object that it was opened with.
    var holdsReadiness: Bool { state.withLock { $0.readiness?.readiness != nil } }

    /// The message about the first impossible number of bytes that the stream has returned; `nil` if all numbers were
    /// possible.
    var falseCount: String? { state.withLock { $0.falseCount } }

    func open(_ readiness: StreamReadiness) throws(TransportError) {
        state.withLock { $0.readiness = Held(readiness) }
        try stream.open(readiness)
    }

    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        let room = min(bytesPerRead, buffer.byteCount)
        let result = try buffer.withUnsafeMutableBytes { space throws(TransportError) in
            var part = UnsafeMutableRawBufferPointer(rebasing: space[..<room]).mutableBytes
            return try stream.read(into: &part)
        }
        switch result {
        case .bytes(let count):
            try check(count, atLeast: 1, of: room, "a read into a buffer of \(room) bytes returned the count")
        case .bytesThenWait(let count):
            try check(count, atLeast: 0, of: room, "a read into a buffer of \(room) bytes returned the count")
        case .ended: break
        }
        return result
    }

    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        let result = try stream.write(bytes)
        let all = bytes.byteCount
        switch result {
        case .bytes(let count): try check(count, atLeast: 1, of: all, "a write of \(all) bytes returned the count")
        case .bytesThenWait(let count):
            try check(count, atLeast: 0, of: all, "a write of \(all) bytes returned the count")
        }
        return result
    }

    func closeOutput() { stream.closeOutput() }
    func close(abruptly: Bool) { stream.close(abruptly: abruptly) }

    private func check(_ count: Int, atLeast least: Int, of most: Int, _ what: String) throws(TransportError) {
        if (least...max(least, most)).contains(count) { return }
        let text = "\(what) \(count)"
        state.withLock { $0.falseCount = $0.falseCount ?? text }
        throw TransportError(.systemFailure, text)
    }
}

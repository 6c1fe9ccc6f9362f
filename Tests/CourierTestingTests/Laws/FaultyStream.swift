import CourierTesting
import CourierTransport
import Synchronization

/// One end of a memory stream with one fault.
final class FaultyStream: DuplexByteStream {
    enum Fault: CaseIterable {
        case readsNothing, countsTooMuch, changesAByte, losesRest, losesAByte, staysBlocked, readsOrWrites
        case keepsOutputOpen, breaksOutput, hidesReset, keepsReadiness

        /// The law that this fault breaks.
        var law: DuplexByteStreamLaws.Law {
            switch self {
            case .readsNothing, .countsTooMuch: .countsTruly
            case .changesAByte: .keepsBytes
            case .losesRest: .readsInSmallPieces
            case .losesAByte, .staysBlocked: .resumesBigWrites
            case .readsOrWrites: .directionsAreIndependent
            case .keepsOutputOpen: .endsOutputAlone
            case .breaksOutput: .closesInOrder
            case .hidesReset: .showsReset
            case .keepsReadiness: .closeIsFinal
            }
        }

        /// The time that the check waits before it reports this fault; `nil` if the check needs no timeout.
        var patience: Duration? {
            switch self {
            case .losesRest, .losesAByte, .staysBlocked, .readsOrWrites, .keepsOutputOpen: .milliseconds(300)
            case .readsNothing, .countsTooMuch, .changesAByte, .breaksOutput, .hidesReset, .keepsReadiness: nil
            }
        }
    }

    private struct State {
        var readCount = 0
        var isBlocked = false
        var readiness: StreamReadiness?
    }

    private let fault: Fault
    private let stream: MemoryStream
    private let state = Mutex(State())

    private init(_ fault: Fault, _ stream: MemoryStream) {
        self.fault = fault
        self.stream = stream
    }

    static func pair(_ fault: Fault) -> (FaultyStream, FaultyStream) {
        let (left, right) = MemoryStream.pair()
        return (FaultyStream(fault, left), FaultyStream(fault, right))
    }

    var name: String { stream.name }

    func open(_ readiness: StreamReadiness) {
        if fault == .keepsReadiness { state.withLock { $0.readiness = readiness } }
        stream.open(readiness)
    }

    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        if fault == .readsOrWrites, state.withLock({ $0.isBlocked }) { return .bytesThenWait(0) }
        if fault == .losesRest { return try readAndLose(into: &buffer) }
        let room = buffer.byteCount
        let result = try stream.read(into: &buffer)
        switch (fault, result) {
        case (.readsNothing, .bytesThenWait(0)): return .bytes(0)
        case (.countsTooMuch, .bytes): return .bytes(room + 1)
        case (.changesAByte, .bytes(let count)):
            let isFirst = state.withLock { state in
                defer { state.readCount += 1 }
                return state.readCount == 1
            }
            if isFirst { buffer.withUnsafeMutableBytes { $0[count - 1] ^= 1 } }
            return result
        default: return result
        }
    }

    /// Reads more bytes than fit into the buffer, and loses the rest.
    private func readAndLose(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        var all = [UInt8](repeating: 0, count: 1 << 16)
        var span = all.mutableSpan
        var bytes = span.mutableBytes
        let result = try stream.read(into: &bytes)
        guard case .bytes(let count) = result else { return result }
        let kept = min(count, buffer.byteCount)
        buffer.withUnsafeMutableBytes { $0.copyBytes(from: all[..<kept]) }
        return .bytes(kept)
    }

    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        if fault == .staysBlocked, state.withLock({ $0.isBlocked }) { return .bytesThenWait(0) }
        let result = try stream.write(bytes)
        guard case .bytesThenWait = result else {
            let all = bytes.byteCount
            // Not all bytes were written, and the result reports one byte too many.
            if fault == .losesAByte, case .bytes(let count) = result, count < all { return .bytes(count + 1) }
            return result
        }
        state.withLock { $0.isBlocked = true }
        return result
    }

    func closeOutput() {
        switch fault {
        case .keepsOutputOpen: break
        case .breaksOutput: stream.close(abruptly: true)
        default: stream.closeOutput()
        }
    }

    func close(abruptly: Bool) { stream.close(abruptly: abruptly && fault != .hidesReset) }
}

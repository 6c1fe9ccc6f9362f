import CourierMQTTChuck
import Foundation
import Synchronization

/// An export that is sent to one client. A thread produces the export in pieces. The thread pauses while at least
/// `ahead` bytes are produced and not yet sent.
final class ExportStream: HTTPBodyStream {
    private struct Cancelled: Error {}

    private struct State {
        var pieces: [Data] = []
        var size = 0
        var isWhole = false
        var isClosed = false
        var isWriterWaiting = false
        /// The connection that waits for the next bytes; `nil` if none waits.
        var reader: WaitingRoom.Seat?
    }

    private let room: WaitingRoom
    private let ahead: Int
    private let onClose: @Sendable () -> Void
    private let state = Mutex(State())
    /// This semaphore is signaled when the thread may produce more bytes of the export.
    private let hasRoom = DispatchSemaphore(value: 0)

    init(ahead: Int, _ room: WaitingRoom, onClose: @escaping @Sendable () -> Void) {
        self.room = room
        self.ahead = ahead
        self.onClose = onClose
    }

    /// Starts the thread. The thread ends after it has produced the whole export, or soon after the client has
    /// disconnected.
    func start(_ logger: MQTTChuckLogger, _ format: MQTTChuckExportFormat, _ query: MQTTChuckQuery) {
        let thread = Thread { [self] in
            try? logger.export(format, matching: query, to: write)  // Throws only after `close()`.
            finish()
        }
        thread.name = "courier-export"
        thread.start()
    }

    // MARK: Called on the export's thread

    private func write(_ piece: Data) throws {
        while true {
            let isFull = try state.withLock { state in
                if state.isClosed { throw Cancelled() }
                state.isWriterWaiting = state.size >= ahead
                if state.isWriterWaiting { return true }
                state.pieces.append(piece)
                state.size += piece.count
                return false
            }
            if !isFull { break }
            hasRoom.wait()
        }
        wakeReader()
    }

    private func finish() {
        state.withLock { $0.isWhole = true }
        wakeReader()
    }

    private func wakeReader() {
        let seat = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        if let seat { room.wake(seat) }
    }

    // MARK: Called on the server's thread

    func read(into buffer: UnsafeMutableRawBufferPointer, _ seat: WaitingRoom.Seat) -> HTTPBodyPart {
        let (count, isWhole, needsMore) = state.withLock { state in
            guard let piece = state.pieces.first else {
                state.reader = seat
                return (0, state.isWhole, false)
            }
            let part = piece.prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.size -= part.count
            if part.count == piece.count {
                state.pieces.removeFirst()
            } else {
                state.pieces[0] = piece.dropFirst(part.count)
            }
            defer { if state.size < ahead { state.isWriterWaiting = false } }
            return (part.count, false, state.isWriterWaiting && state.size < ahead)
        }
        if needsMore { hasRoom.signal() }
        if count > 0 { return .bytes(count) }
        if isWhole { return .end }
        return .waiting(isSeated: room.wait(seat) { state.withLock { !$0.pieces.isEmpty || $0.isWhole } })
    }

    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            state.pieces = []
            return state.isClosed
        }
        hasRoom.signal()
        if !wasClosed { onClose() }
    }
}

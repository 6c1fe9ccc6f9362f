import Foundation
import Synchronization

/// A response body that one asynchronous call produces. The server's thread does not wait for the call.
final class LaterAnswer: HTTPBodyStream {
    private struct State {
        /// The bytes that are not sent yet; `nil` until the asynchronous call has returned.
        var rest: Data?
        /// The connection that waits for the bytes; `nil` if none waits.
        var reader: WaitingRoom.Seat?
        var call: Task<Void, Never>?
    }

    private let room: WaitingRoom
    private let state = Mutex(State())

    init(_ room: WaitingRoom) { self.room = room }

    /// Starts the call.
    func start(_ produce: @escaping @Sendable () async -> Data) {
        let call = Task { [self] in
            let body = await produce()
            let seat = state.withLock { state in
                state.rest = body
                defer { state.reader = nil }
                return state.reader
            }
            if let seat { room.wake(seat) }
        }
        state.withLock { $0.call = call }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, _ seat: WaitingRoom.Seat) -> HTTPBodyPart {
        let part: HTTPBodyPart? = state.withLock { state in
            guard let rest = state.rest else {
                state.reader = seat
                return nil
            }
            if rest.isEmpty { return .end }
            let part = rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.rest = rest.dropFirst(part.count)
            return .bytes(part.count)
        }
        return part ?? .waiting(isSeated: room.wait(seat) { state.withLock { $0.rest != nil } })
    }

    func close() { state.withLock { $0.call }?.cancel() }
}

import Foundation
import Synchronization

/// The server-sent events (SSE) for one open web page. Only the latest tick is sent, and ticks are not queued.
///
/// A web page that reads slowly receives fewer ticks. It then requests all rows that were recorded since the last tick
/// that it received.
final class TickStream: HTTPBodyStream {
    private struct State {
        /// The bytes that are still to be sent. The initial bytes tell the web page to reconnect 1,000 ms after a lost
        /// connection.
        var rest = Data("retry: 1000\n\n".utf8)
        var seen: UInt64 = 0
        var isClosed = false
    }

    private let ticker: Ticker
    private let state = Mutex(State())

    init(_ ticker: Ticker) { self.ticker = ticker }

    func read(into buffer: UnsafeMutableRawBufferPointer, _ seat: WaitingRoom.Seat) -> HTTPBodyPart {
        let (count, seen) = state.withLock { state in
            if state.rest.isEmpty, let tick = ticker.tick(after: state.seen) {
                state.rest = tick.event
                state.seen = tick.number
            }
            let part = state.rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.rest = state.rest.dropFirst(part.count)
            return (part.count, state.seen)
        }
        if count > 0 { return .bytes(count) }
        return .waiting(isSeated: ticker.wait(seat, after: seen))
    }

    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if !wasClosed { ticker.streamClosed() }
    }
}

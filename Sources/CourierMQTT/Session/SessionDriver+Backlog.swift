import CourierTransport
import MQTTEngine

/// Limits the bytes that wait in the channel while the peer does not read.
///
/// While many bytes wait, the client writes no further messages. But the client still answers received packets, so that
/// a large upload does not stop the receipt of messages. A peer may send packets and never read the answers. Without
/// the limit, these answers would fill the memory.
extension SessionDriver {
    /// Checks the number of bytes that wait in the channel. Called once per read. Ends the connection if too many bytes
    /// wait. A peer that follows the MQTT specification cannot cause so many waiting bytes.
    ///
    /// The limit is set when the channel is first found above high water, which means that it has many unsent bytes.
    /// The limit is the sum of the waiting bytes, the bytes of the engine's messages, and `answerLimit`. The engine's
    /// messages count, because the engine may write them when the peer acknowledges earlier messages. The engine gets
    /// no further messages while the channel is above high water.
    func checkBacklog() {
        guard let channel = state.pointee.channel, channel.isAboveHighWater else { return }
        let waiting = channel.pendingByteCount
        guard let limit = state.pointee.backlogLimit else {
            state.pointee.backlogLimit = waiting + state.pointee.engine.keptByteCount + answerLimit
            return
        }
        guard waiting > limit else { return }
        state.pointee.engine.serverStoppedReading(
            waitingByteCount: waiting, into: &state.pointee.buffer, &state.pointee.actions)
    }

    /// Removes the limit for waiting bytes, for example because the channel has few unsent bytes again or the
    /// connection has ended.
    func forgetBacklog() { state.pointee.backlogLimit = nil }
}

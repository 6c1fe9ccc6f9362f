import CourierTransport
import MQTTEngine

/// Limits the bytes that wait for a slow peer. Messages are held back. Answers to received packets are not held back,
/// because a large upload must not delay receiving. So the bytes of answers are limited. Otherwise, a peer that sends
/// and never reads would fill the memory.
extension SessionDriver {
    /// Checks the number of waiting bytes once per read. Ends the connection if there are more than a peer can cause
    /// that follows the MQTT specification.
    ///
    /// The limit is set when the channel is first found above high water. The limit includes the bytes of the messages
    /// that the session has at that time, because they may be written when the peer acknowledges earlier messages.
    /// Other messages are not written while the channel is above high water.
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

    /// Removes the limit, for example because the peer has caught up or the connection has ended.
    func forgetBacklog() { state.pointee.backlogLimit = nil }
}

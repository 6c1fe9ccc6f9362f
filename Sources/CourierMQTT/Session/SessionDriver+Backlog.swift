import CourierTransport
import MQTTEngine

/// Limits the bytes that wait for a slow peer. Messages are held back. Answers to received packets are not held back, because a
/// large upload must not delay receiving, so they have a limit: a peer that sends and never reads would fill the memory.
extension SessionDriver {
    /// Looks, once per read, how much waits, and ends the connection if it is more than a peer can bring about that keeps
    /// to MQTT.
    ///
    /// The limit is set when the peer is found behind. The messages that the session has then may come on top, as the peer
    /// acknowledges earlier ones; no others come while it is behind.
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

    /// The peer has caught up, or is gone.
    func forgetBacklog() { state.pointee.backlogLimit = nil }
}

import CourierTransport
package import MQTTCodec
package import MQTTEngine

/// The way from callers on any thread through the outbox to the engine.
extension SessionDriver {
    // MARK: From any thread

    /// Hands `message` over to be published, in order; `false` when the outbox is full, and then
    /// ``SessionObserver/outboxDrained()`` follows.
    package func publish(_ message: OutgoingMessage) -> Bool {
        publish(
            message.header, topic: message.topic, payload: message.payload.span.bytes, properties: message.properties)
    }

    /// Hands a message of these parts over like ``publish(_:)``, by copying their bytes and nothing else. One that is
    /// of another session than ``begin(_:)`` named last is not taken, and nothing follows.
    ///
    /// It leaves on the calling thread if the loop sleeps and `isDirect` is true, which it may be for callers without a lock
    /// only; see ``EventLoop/borrow(_:)``.
    package func publish(
        _ header: OutgoingHeader, topic: String, payload: RawSpan, properties: PacketProperties = [],
        of session: Int = 0, isDirect: Bool = false
    ) -> Bool {
        switch outbox.append(header, topic: topic, payload: payload, properties: properties, of: session) {
        case .taken(let wakesLoop):
            if wakesLoop, !(isDirect && loop.borrow(sendAtOnce)) { loop.enqueue(self) }
            return true
        case .full, .foreign: return false
        }
    }

    /// Takes messages of this session only from now on, and of session 0 at first. ``forgetSession()`` follows for
    /// those of the one before.
    package func begin(_ session: Int) { outbox.begin(session) }
}

extension SessionDriver: LoopWork {
    /// Gives the outbox to the engine, a batch at a time, until it is empty or the channel takes no more.
    package func runOnLoop() {
        while true {
            guard state.pointee.channel?.isAboveHighWater != true,
                state.pointee.engine.queuedCount < Self.queueLimit
            else {
                state.pointee.isStalled = true
                return
            }
            if !takeBatch() { return }
            settle()
        }
    }

    /// The same on a borrowed loop, while that leads to a write and to no code of the app's; `false` when the loop is to
    /// go on.
    private func sendAtOnce() -> Bool {
        for _ in 0..<2 {  // The second time nearly always finds nothing.
            guard state.pointee.channel?.isReadyToSend == true, state.pointee.engine.isConnected,
                state.pointee.tap == nil, !state.pointee.pause.isOn, !state.pointee.isStalled,
                state.pointee.engine.queuedCount < Self.queueLimit
            else { return false }
            if !takeBatch() { return true }
            settle()
        }
        return false
    }

    /// Gives what waits in the outbox to the engine; `false` when nothing did.
    private func takeBatch() -> Bool {
        let (isEmpty, wasFull) = outbox.exchange(&state.pointee.batch)
        if !isEmpty {
            state.pointee.engine.publish(
                state.pointee.batch, now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
            state.pointee.batch.removeAll()
        }
        if wasFull { observer.outboxDrained() }
        return !isEmpty
    }

    /// Goes on with the outbox, if it had to wait: for the channel to take bytes, or for acknowledgements.
    func resumeIfStalled() {
        guard state.pointee.isStalled else { return }
        state.pointee.isStalled = false
        runOnLoop()
    }

    /// Gives all of the outbox to the engine, also while the channel takes no more: it is the last that this connection
    /// carries. What waits behind too many messages without an acknowledgement is left for the next one.
    func sendAll() {
        runOnLoop()
        guard state.pointee.isStalled, state.pointee.engine.queuedCount < Self.queueLimit else { return }
        if takeBatch() { settle() }
        forgetBacklog()  // These may come on top.
    }

    /// Forgets what the engine has, and what it would have had next.
    func forgetAll() {
        while takeBatch() {}
        state.pointee.engine.forgetSession(&state.pointee.actions)
    }
}

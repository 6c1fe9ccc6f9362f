package import CourierTransport
package import MQTTCodec
package import MQTTEngine
package import Synchronization

/// Runs one client session on an event loop. The driver passes data between an engine, the byte channel of the present
/// connection, and the queue to which callers on other threads add messages.
///
/// Every input is handled in the same way. The engine processes the input, one write sends all new packets, the
/// engine's actions are performed, and the timer is set.
///
/// `@unchecked Sendable` is safe: `state` is used on the event loop only, and the functions that other types call check
/// that they run there. The queue has its own lock. All other properties are constant.
package final class SessionDriver: @unchecked Sendable {
    /// The state that is used on the event loop. The state is behind a pointer, because Swift checks each access to a
    /// property of a class at run time. These checks would run several times for each message.
    struct State: ~Copyable {
        var engine: ClientEngine
        var buffer = PacketBuffer()
        var actions = ActionList()
        /// The actions that are being performed. This list and ``actions`` are swapped, so that the memory of both
        /// lists is reused.
        var performing = ActionList()
        /// Reused memory for the list of messages that the engine must send.
        var views: [MessageView] = []
        /// The number of the last message in the queue that may be sent. Later messages wait for jobs of the event
        /// loop; see `lastOfTurn()`.
        var lastOfTurn = 0
        /// The last message that waits for jobs of the event loop, such as sending SUBSCRIBE; `nil` if no message waits
        /// for jobs. The messages up to `number` may be sent after the loop has begun `jobCount` jobs in total.
        var awaited: (number: Int, jobCount: Int)?
        /// The broker's answers to messages since the last call of ``reportAnswers()``.
        var answers: [OutgoingQueue.Answer] = []
        var channel: ByteChannel?
        /// The observer of the present connection's packets.
        var tap: PacketTap?
        /// True if the engine was informed that the channel is open.
        var hasOpened = false
        var timer: TimerToken?
        /// The time when ``timer`` fires, which is never later than the engine's deadline.
        var timerDeadline: ContinuousClock.Instant?
        /// The reason why the engine ended the connection; `nil` if the engine has not ended the connection.
        @BoxedOptional var closeReason: CloseReason?
        /// True if DISCONNECT was written to the present connection's channel. After the connection has ended, true if
        /// all bytes up to DISCONNECT were also sent.
        var hasSaidGoodbye = false
        /// True if the session must be forgotten after the connection has ended.
        var forgetsSession = false
        /// True while actions are performed. An input that an action causes is handled after all these actions.
        var isPerforming = false
        /// True if the last check of the queue found no message that may be sent. The cause was a full socket, a
        /// missing connection, or the limit of unacknowledged messages.
        var isStalled = false
        /// True while bytes of the last write are unsent in the channel. After the connection has ended, true if bytes
        /// were unsent when it ended.
        var hasUnwrittenBytes = false
        /// True if bytes of earlier writes were unsent when the last write began.
        var followsUnwrittenBytes = false
        /// The maximum number of unsent bytes in the channel. If more bytes are unsent, the connection ends. `nil`
        /// means no limit, because the channel has not passed its high water mark yet.
        var backlogLimit: Int?
        /// The state of the pause in reading, for example while the queue of a reader is full.
        var pause = ReadingPause()
    }

    /// The default for `answerLimit`, 4 MiB: the maximum number of bytes of answers that wait because the peer does not
    /// read. A peer that follows the MQTT specification has at most 65,535 unanswered packet ids at a time. The answers
    /// for these ids take less than 1 MiB, so such a peer never reaches the limit.
    package static let defaultAnswerLimit = 4 << 20

    /// The event loop that runs the session.
    package let loop: EventLoop
    /// The number of requests of the app whose response has not arrived. A response arrives as a message. So while this
    /// number is not 0, the client reads for short times even during a pause in reading.
    package let awaitedMessages = Atomic(0)

    /// The numbers of bytes, messages and connections for ``CourierCore/ClientMetrics``.
    let traffic = TrafficCounters()

    let observer: any SessionObserver
    let outgoing: OutgoingQueue
    let answerLimit: Int
    let state: UnsafeMutablePointer<State>

    /// Creates a session without a connection.
    init(
        _ configuration: EngineConfiguration, on loop: EventLoop, observer: any SessionObserver,
        outgoing: OutgoingQueue, answerLimit: Int = SessionDriver.defaultAnswerLimit
    ) {
        self.loop = loop
        self.observer = observer
        self.outgoing = outgoing
        self.answerLimit = answerLimit
        state = .allocate(capacity: 1)
        state.initialize(to: State(engine: ClientEngine(configuration)))
    }

    deinit {
        // Free the state now. This is safe, because no other reference to the pointer exists, and no function of this
        // instance is running.
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: Called on the event loop

    /// Opens a connection. An earlier connection must have ended. `history` is shared by all connections of the client.
    /// `tap` is used for the new connection only.
    package func open(
        _ endpoint: TransportEndpoint, tls: TLSContext? = nil, proxy: ProxySetting = .direct,
        options: ChannelOptions = ChannelOptions(), history: AddressHistory? = nil, tap: PacketTap? = nil
    ) {
        loop.preconditionOnLoop()
        precondition(state.pointee.channel == nil, "opened twice")
        state.pointee.hasSaidGoodbye = false
        state.pointee.hasUnwrittenBytes = false
        state.pointee.tap = tap
        state.pointee.channel = ByteChannel.connect(
            to: endpoint, tls: tls, proxy: proxy, options: options, history: history, on: loop, handler: self)
    }

    /// Ends the connection with DISCONNECT. The session remains.
    package func disconnect(_ disconnect: Disconnect = Disconnect()) {
        loop.preconditionOnLoop()
        // If CONNECT was not written yet, close the channel, because no DISCONNECT is needed.
        guard state.pointee.hasOpened else {
            state.pointee.channel?.close()
            return
        }
        // Send the messages that were published before this call. Otherwise, QoS 0 messages would be lost, because most
        // of them do not wait for the next connection.
        sendAll()
        if state.pointee.engine.isConnected, state.pointee.channel?.takesOutput == true {
            state.pointee.hasSaidGoodbye = true
        }
        tell { $0.engine.disconnect(disconnect, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// Ends the connection at once, without DISCONNECT.
    package func abort() {
        loop.preconditionOnLoop()
        state.pointee.channel?.abort()
    }

    /// Sends SUBSCRIBE; see ``MQTTEngine/ClientEngine/subscribe(_:properties:token:now:into:_:)``.
    package func subscribe(_ subscriptions: [Subscription], properties: PacketProperties = [], token: Token) {
        tell {
            $0.engine.subscribe(
                subscriptions, properties: properties, token: token, now: $1, into: &$0.buffer, &$0.actions)
        }
    }

    /// Sends UNSUBSCRIBE; see ``MQTTEngine/ClientEngine/unsubscribe(_:properties:token:now:into:_:)``.
    package func unsubscribe(_ filters: [String], properties: PacketProperties = [], token: Token) {
        tell {
            $0.engine.unsubscribe(
                filters, properties: properties, token: token, now: $1, into: &$0.buffer, &$0.actions)
        }
    }

    /// Acknowledges the received message with this handle.
    package func acknowledge(_ handle: IncomingMessage.Handle, _ code: PacketReasonCode = .success) {
        tell { $0.engine.acknowledge(handle, code, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// Runs `body`, and sends all packets that result from it with one write.
    package func together(_ body: () -> Void) {
        loop.preconditionOnLoop()
        guard !state.pointee.isPerforming else { return body() }
        state.pointee.isPerforming = true
        body()
        state.pointee.isPerforming = false
        settle()
    }

    /// Returns true if the received message with this handle still has to be acknowledged, on this connection or the
    /// next.
    package func awaitsAcknowledgement(_ handle: IncomingMessage.Handle) -> Bool {
        loop.preconditionOnLoop()
        return state.pointee.engine.awaitsAcknowledgement(handle)
    }

    /// Sends AUTH, the next step of an authentication; see ``MQTTEngine/ClientEngine/authenticate(_:now:into:)``.
    package func authenticate(_ auth: Auth) throws(EncodeError) {
        loop.preconditionOnLoop()
        try state.pointee.engine.authenticate(auth, now: loop.now, into: &state.pointee.buffer)
        settle()
    }

    /// Sends PINGREQ now.
    package func ping() { tell { $0.engine.ping(now: $1, into: &$0.buffer, &$0.actions) } }

    /// Sets the configuration for the next connection; see ``MQTTEngine/ClientEngine/reconfigure(_:isSameServer:_:)``.
    package func reconfigure(_ configuration: EngineConfiguration, isSameServer: Bool) {
        tell { state, _ in state.engine.reconfigure(configuration, isSameServer: isSameServer, &state.actions) }
    }

    /// Restores the unfinished packet exchanges, such as PUBLISH and PUBACK, that an earlier process stored. Must be
    /// called before the first connection; see ``MQTTEngine/ClientEngine/restore(_:incoming:_:)``.
    package func restore(_ messages: [ClientEngine.UnfinishedMessage], incoming ids: [PacketID]) {
        tell { state, _ in state.engine.restore(messages, incoming: ids, &state.actions) }
    }

    /// Continues to send a message after the store has recorded the last step, such as the arrival of PUBREC. The
    /// engine then writes the packet that waited for the store; see
    /// ``MQTTEngine/ClientEngine/stored(_:_:now:into:_:)``.
    package func stored(_ token: Token, _ id: PacketID) {
        tell { $0.engine.stored(token, id, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// Writes PUBCOMP after the store has recorded that a QoS 2 message was received completely; see
    /// ``MQTTEngine/ClientEngine/storedRelease(_:now:into:)``.
    package func storedRelease(_ id: PacketID) {
        tell { $0.engine.storedRelease(id, now: $1, into: &$0.buffer) }
    }

    /// Sets whether the engine or the caller acknowledges the messages that arrive from now on.
    package func setAcknowledgements(_ mode: EngineConfiguration.AcknowledgementMode) {
        loop.preconditionOnLoop()
        state.pointee.engine.setAcknowledgements(mode)
    }

    /// Forgets the session and all messages in flight. If there is a connection, the session is forgotten after the
    /// connection has ended.
    package func forgetSession() {
        loop.preconditionOnLoop()
        if state.pointee.channel == nil {
            state.pointee.engine.forgetSession(&state.pointee.actions)
            settle()
        } else {
            state.pointee.forgetsSession = true
        }
    }

    /// True if the session will be forgotten when the connection ends.
    var isForgettingSession: Bool {
        loop.preconditionOnLoop()
        return state.pointee.forgetsSession
    }

    /// The MQTT version of the present connection. Without a connection, the version for the next attempt to connect.
    package var protocolVersion: ProtocolVersion {
        loop.preconditionOnLoop()
        return state.pointee.engine.protocolVersion
    }

    /// True while there is a connection that the broker has accepted.
    package var isConnected: Bool {
        loop.preconditionOnLoop()
        return state.pointee.engine.isConnected
    }

    /// True if the last connection was ended by ``disconnect(_:)``, and all bytes up to DISCONNECT were sent.
    package var hasSaidGoodbye: Bool {
        loop.preconditionOnLoop()
        return state.pointee.channel == nil && state.pointee.hasSaidGoodbye
    }
}

extension SessionDriver {
    /// Passes an input to the engine, and performs the engine's actions.
    func tell(_ input: (inout State, ContinuousClock.Instant) -> Void) {
        loop.preconditionOnLoop()
        input(&state.pointee, loop.now)
        settle()
        resumeIfStalled()  // An acknowledgement may have increased the quota.
    }

    /// Writes all packets of the engine, performs the engine's actions, writes the packets that result from these
    /// actions, and sets the timer.
    ///
    /// The observer may make requests while it receives actions, for example to acknowledge all messages of a read. One
    /// write sends the packets of all these requests.
    func settle() {
        guard !state.pointee.isPerforming else { return }
        flush()
        perform()
        reportAnswers()
        flush()
        setTimer()
        if state.pointee.pause.isOn { planGlance() }
    }

    private func flush() {
        guard !state.pointee.buffer.isEmpty else { return }
        if let channel = state.pointee.channel {
            state.pointee.followsUnwrittenBytes = state.pointee.hasUnwrittenBytes
            state.pointee.buffer.withBytes { bytes in
                channel.write(bytes)
                traffic.sent(byteCount: bytes.byteCount)
                state.pointee.tap?.wrote(bytes, at: loop.now)
            }
            state.pointee.hasUnwrittenBytes = channel.pendingByteCount > 0
            observer.wrote()
        }
        state.pointee.buffer.removeAll()
    }

    /// Performs all actions in their order, including actions that are added during this call. `bytes` holds the bytes
    /// of received messages.
    private func perform(in bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        guard !state.pointee.isPerforming, !state.pointee.actions.isEmpty else { return }
        state.pointee.isPerforming = true
        while !state.pointee.actions.isEmpty {
            swap(&state.pointee.actions, &state.pointee.performing)
            // Use indices. An iterator would reference the list, so that `removeAll()` would have to copy it.
            for index in state.pointee.performing.entries.indices {
                switch state.pointee.performing.entries[index] {
                case .progress(.acknowledged(let token, let code)):
                    state.pointee.answers.append(OutgoingQueue.Answer(token: token, code: code))
                case .progress(let progress): observer.progressed(progress)
                case .message(let index): deliver(state.pointee.performing.messages[index], in: bytes.bytes)
                case .rare(let index):
                    reportAnswers()  // Report the answers before the action, because they arrived before it.
                    perform(state.pointee.performing.rare[index])
                }
            }
            let messageCount = state.pointee.performing.messages.count
            if messageCount > 0 { traffic.received(messageCount: messageCount) }
            state.pointee.performing.removeAll()
        }
        state.pointee.isPerforming = false
    }

    /// Reports all collected answers of the broker in one call. Then even many answers need only one lock and one block
    /// of work on the delivery queue.
    private func reportAnswers() {
        guard !state.pointee.answers.isEmpty else { return }
        var answers: [OutgoingQueue.Answer] = []
        swap(&answers, &state.pointee.answers)
        observer.answered(answers)
        answers.removeAll(keepingCapacity: true)
        if state.pointee.answers.isEmpty { swap(&answers, &state.pointee.answers) }
    }

    private func perform(_ action: EngineAction) {
        guard case .close(let reason) = action else { return observer.performed(action) }
        state.pointee.closeReason = reason
        // Close the channel at once. A peer that does not read would not receive DISCONNECT, and the waiting bytes use
        // memory.
        if case .protocolError(.answersUnread) = reason {
            state.pointee.channel?.abort()
            return
        }
        flush()  // Write the engine's DISCONNECT, if there is one.
        state.pointee.channel?.close()
    }

    /// Sets the timer so that it fires no later than the engine's deadline. If the timer already fires earlier, keeps
    /// it. Each packet moves the deadline, so one early call costs less than a new timer for each packet.
    private func setTimer() {
        guard let deadline = state.pointee.engine.deadline else { return }
        if let set = state.pointee.timerDeadline, set <= deadline { return }
        if let timer = state.pointee.timer { loop.cancel(timer) }
        state.pointee.timerDeadline = deadline
        state.pointee.timer = loop.schedule(at: deadline) { [weak self] in self?.timerFired() }
    }

    private func timerFired() {
        state.pointee.timer = nil
        state.pointee.timerDeadline = nil
        tell { $0.engine.timerFired(now: $1, into: &$0.buffer, &$0.actions) }
        trim()
    }

    /// Frees memory that is needed only during traffic. Called when a timer fires, because most timers fire when there
    /// is little traffic. Timers fire rarely, so allocating the memory again costs little.
    private func trim() {
        guard !state.pointee.isPerforming else { return }
        outgoing.trim()
        state.pointee.views = []
        if state.pointee.answers.isEmpty { state.pointee.answers = [] }
        state.pointee.buffer.trim(above: 0)
        state.pointee.actions.trim(above: 0)
        state.pointee.performing.trim(above: 0)
        state.pointee.engine.trim()
    }
}

extension ChannelCloseReason {
    /// True if the peer ended the connection without an MQTT reason. A closed WebSocket also counts, because RabbitMQ
    /// closes the WebSocket if it does not support the MQTT version.
    var isSilent: Bool {
        switch self {
        case .closedByPeer: true
        case .failed(let error): [.reset, .truncated, .webSocketClosed].contains(error.code)
        case .closedByOwner: false
        }
    }
}

extension SessionDriver: ChannelHandler {
    package func opened(_ channel: ByteChannel) {
        state.pointee.hasOpened = true
        tell { $0.engine.transportOpened(now: $1, into: &$0.buffer, &$0.actions) }
        observer.opened()
    }

    package func received(_ bytes: RawSpan) -> Int {
        var consumed = 0
        while consumed < bytes.byteCount {
            let rest = bytes.extracting(consumed..<bytes.byteCount)
            let wasSkipping = state.pointee.engine.isSkipping
            let taken = state.pointee.engine.received(
                rest, now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
            // The tap shows whole packets only, and no part of a message that is skipped.
            if let tap = state.pointee.tap, !wasSkipping, !state.pointee.engine.isSkipping {
                tap.read(rest.extracting(first: taken), at: loop.now)
            }
            // Deliver the messages now, because they point to bytes of `rest`. Write new packets later, at the end of
            // the read.
            rest.withUnsafeBytes { perform(in: $0) }
            consumed += taken
            // If the full queue of a reader has paused reading during this call, leave the remaining bytes in the
            // channel. Otherwise, this queue would grow.
            if taken == 0 || isReadingHalted { break }
        }
        traffic.received(byteCount: consumed)
        return consumed
    }

    private func deliver(_ message: IncomingMessage, in bytes: RawSpan) {
        let payload = bytes.extracting(message.view.payload)
        let properties = bytes.extracting(message.view.properties)
        if let topic = state.pointee.engine.aliasedTopic(of: message) {
            topic.withBytes { observer.received(message, topic: $0, payload: payload, properties: properties) }
        } else {
            observer.received(
                message, topic: bytes.extracting(message.view.topic), payload: payload, properties: properties)
        }
    }

    package func readBatchEnded() {
        checkBacklog()
        settle()
        observer.receivedAll()
        resumeIfStalled()
    }

    package func drained() {
        state.pointee.hasUnwrittenBytes = false
        observer.drained()
    }

    package func fellBelowLowWater() {
        forgetBacklog()
        resumeIfStalled()
    }

    package func closed(_ cause: ChannelCloseReason) {
        if state.pointee.channel?.hasEndedOutput != true { state.pointee.hasSaidGoodbye = false }
        state.pointee.channel = nil
        forgetBacklog()
        endPause()
        state.pointee.hasOpened = false
        state.pointee.buffer.removeAll()
        state.pointee.engine.transportClosed(now: loop.now, wasSilent: cause.isSilent, &state.pointee.actions)
        perform()
        if state.pointee.forgetsSession {
            state.pointee.forgetsSession = false
            state.pointee.engine.forgetSession(&state.pointee.actions)
            perform()
        }
        reportAnswers()
        if let timer = state.pointee.timer { loop.cancel(timer) }
        state.pointee.timer = nil
        state.pointee.timerDeadline = nil
        setTimer()
        let reason = state.pointee.closeReason ?? .transportClosed
        state.pointee.closeReason = nil
        state.pointee.isStalled = false
        observer.closed(reason, cause)
    }
}

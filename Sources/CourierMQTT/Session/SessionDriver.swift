package import CourierTransport
package import MQTTCodec
package import MQTTEngine
package import Synchronization

/// Runs one client session on an event loop: an engine, the byte channel of its present connection, and the queue that
/// callers on other threads fill.
///
/// Every input is handled in the same way: the engine takes it, one write sends all new packets, the actions are performed, and
/// the timer is set.
///
/// Safe to share: `state` is touched on the loop only, which each entry checks; the queue has a lock of its own; the rest is
/// constant.
package final class SessionDriver: @unchecked Sendable {
    /// The state of the loop. It is behind a pointer, because fields of a class are checked for exclusive access at run time,
    /// several times per message.
    struct State: ~Copyable {
        var engine: ClientEngine
        var buffer = PacketBuffer()
        var actions = ActionList()
        /// The list that is being performed, which ``actions`` takes turns with.
        var performing = ActionList()
        /// Memory for the messages that the engine is given.
        var views: [MessageView] = []
        /// The number of the last message whose turn it is.
        var lastOfTurn = 0
        /// The messages that have their turn next, up to this number, once the loop has begun so many jobs.
        var awaited: (number: Int, jobCount: Int)?
        /// The broker's answers since the last ``reportAnswers()``.
        var answers: [OutgoingQueue.Answer] = []
        var channel: ByteChannel?
        /// The observer of the present connection's packets.
        var tap: PacketTap?
        /// Whether the engine has the input that the channel is open.
        var hasOpened = false
        var timer: TimerToken?
        /// When ``timer`` fires: never later than the engine's deadline.
        var timerDeadline: ContinuousClock.Instant?
        /// Why the engine ended the connection, until the channel is gone.
        @BoxedOptional var closeReason: CloseReason?
        /// Whether DISCONNECT was written on the present connection; on the last one, whether it left as well.
        var hasSaidGoodbye = false
        /// Whether the session is forgotten with the end of the connection.
        var forgetsSession = false
        /// Whether actions are being performed: what they lead to waits until they are done.
        var isPerforming = false
        /// Whether messages wait that could not go out when they were last looked at.
        var isStalled = false
        /// Whether the last write left bytes in the channel; after the end of the connection, whether some were left then.
        var hasUnwrittenBytes = false
        /// Whether bytes of earlier writes were left in the channel when the last write began.
        var followsUnwrittenBytes = false
        /// How many bytes may wait in the channel while it is above high water; `nil` until that was noticed.
        var backlogLimit: Int?
        /// The pause of reading, if a reader is full.
        var pause = ReadingPause()
    }

    /// How many bytes of answers wait at most for a peer that does not read, 4 MiB by default. A peer that keeps to MQTT can
    /// have 65,535 packet ids unanswered at a time, and the answers to them take less than 1 MiB.
    package static let defaultAnswerLimit = 4 << 20

    /// The loop that the session lives on.
    package let loop: EventLoop
    /// How many answers are waited for that come as messages.
    package let awaitedMessages = Atomic(0)

    let observer: any SessionObserver
    let outgoing: OutgoingQueue
    let answerLimit: Int
    let state: UnsafeMutablePointer<State>

    /// Makes a session without a connection.
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
        // There is no other reference to the pointer, and no caller is left.
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: On the loop

    /// Connects. An earlier connection must have ended. `history` belongs to all connections, `tap` observes this one.
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

    /// Ends the connection in order; the session stays.
    package func disconnect(_ disconnect: Disconnect = Disconnect()) {
        loop.preconditionOnLoop()
        // Before CONNECT was written there is nothing to say, and the channel is given up.
        guard state.pointee.hasOpened else {
            state.pointee.channel?.close()
            return
        }
        sendAll()  // What was handed over before goes out before: for QoS 0 there is no later.
        if state.pointee.engine.isConnected, state.pointee.channel?.takesOutput == true {
            state.pointee.hasSaidGoodbye = true
        }
        tell { $0.engine.disconnect(disconnect, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// Drops the connection without a word.
    package func abort() {
        loop.preconditionOnLoop()
        state.pointee.channel?.abort()
    }

    /// Asks for messages; see ``MQTTEngine/ClientEngine/subscribe(_:properties:token:now:into:_:)``.
    package func subscribe(_ subscriptions: [Subscription], properties: PacketProperties = [], token: Token) {
        tell {
            $0.engine.subscribe(
                subscriptions, properties: properties, token: token, now: $1, into: &$0.buffer, &$0.actions)
        }
    }

    /// Wants no more of them; see ``MQTTEngine/ClientEngine/unsubscribe(_:properties:token:now:into:_:)``.
    package func unsubscribe(_ filters: [String], properties: PacketProperties = [], token: Token) {
        tell {
            $0.engine.unsubscribe(
                filters, properties: properties, token: token, now: $1, into: &$0.buffer, &$0.actions)
        }
    }

    /// Acknowledges a message that came with a handle.
    package func acknowledge(_ handle: IncomingMessage.Handle, _ code: PacketReasonCode = .success) {
        tell { $0.engine.acknowledge(handle, code, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// Sends all packets of `body` with one write.
    package func together(_ body: () -> Void) {
        loop.preconditionOnLoop()
        guard !state.pointee.isPerforming else { return body() }
        state.pointee.isPerforming = true
        body()
        state.pointee.isPerforming = false
        settle()
    }

    /// Whether a message that came with a handle is still to be acknowledged, now or on the next connection.
    package func awaitsAcknowledgement(_ handle: IncomingMessage.Handle) -> Bool {
        loop.preconditionOnLoop()
        return state.pointee.engine.awaitsAcknowledgement(handle)
    }

    /// Sends a step of an authentication; see ``MQTTEngine/ClientEngine/authenticate(_:now:into:)``.
    package func authenticate(_ auth: Auth) throws(EncodeError) {
        loop.preconditionOnLoop()
        try state.pointee.engine.authenticate(auth, now: loop.now, into: &state.pointee.buffer)
        settle()
    }

    /// Asks the server for a sign of life now.
    package func ping() { tell { $0.engine.ping(now: $1, into: &$0.buffer, &$0.actions) } }

    /// Takes over a configuration for the next connection; see
    /// ``MQTTEngine/ClientEngine/reconfigure(_:isSameServer:_:)``.
    package func reconfigure(_ configuration: EngineConfiguration, isSameServer: Bool) {
        tell { state, _ in state.engine.reconfigure(configuration, isSameServer: isSameServer, &state.actions) }
    }

    /// Takes over what an earlier process left of the session, before its first connection; see
    /// ``MQTTEngine/ClientEngine/restore(_:incoming:_:)``.
    package func restore(_ messages: [ClientEngine.UnfinishedMessage], incoming ids: [PacketID]) {
        tell { state, _ in state.engine.restore(messages, incoming: ids, &state.actions) }
    }

    /// The awaited step is stored; see ``MQTTEngine/ClientEngine/stored(_:_:now:into:_:)``.
    package func stored(_ token: Token, _ id: PacketID) {
        tell { $0.engine.stored(token, id, now: $1, into: &$0.buffer, &$0.actions) }
    }

    /// That a received message is complete is stored; see ``MQTTEngine/ClientEngine/storedRelease(_:now:into:)``.
    package func storedRelease(_ id: PacketID) {
        tell { $0.engine.storedRelease(id, now: $1, into: &$0.buffer) }
    }

    /// Sets who acknowledges later messages.
    package func setAcknowledgements(_ mode: EngineConfiguration.AcknowledgementMode) {
        loop.preconditionOnLoop()
        state.pointee.engine.setAcknowledgements(mode)
    }

    /// Forgets everything that waits or is in flight: now, or when the connection that there is has ended.
    package func forgetSession() {
        loop.preconditionOnLoop()
        if state.pointee.channel == nil {
            state.pointee.engine.forgetSession(&state.pointee.actions)
            settle()
        } else {
            state.pointee.forgetsSession = true
        }
    }

    /// Whether the session is forgotten when the connection ends.
    var isForgettingSession: Bool {
        loop.preconditionOnLoop()
        return state.pointee.forgetsSession
    }

    /// The version that is spoken, or tried.
    package var protocolVersion: ProtocolVersion {
        loop.preconditionOnLoop()
        return state.pointee.engine.protocolVersion
    }

    /// Pauses and resumes reading, so that a slow reader delays the broker and memory stays bounded. Reading is not paused before
    /// CONNACK.
    package func setReadingPaused(_ isPaused: Bool) {
        tell { state, now in state.engine.setReadingPaused(isPaused, now: now) }
        if !isPaused {
            endPause()
            state.pointee.channel?.resumeReading()
        } else if state.pointee.engine.isConnected {
            beginPause()
            state.pointee.channel?.pauseReading()
        }
    }

    /// Whether the observer has paused reading, although there may be a glance.
    package var isReadingPaused: Bool {
        loop.preconditionOnLoop()
        return state.pointee.pause.isOn || state.pointee.channel?.isPaused == true
    }

    /// Whether received bytes stay in the system's buffers. `false` during a glance.
    package var isReadingHalted: Bool {
        loop.preconditionOnLoop()
        return state.pointee.pause.isOn && !state.pointee.pause.isGlancing
    }

    /// Whether the server has accepted the connection.
    package var isConnected: Bool {
        loop.preconditionOnLoop()
        return state.pointee.engine.isConnected
    }

    /// Whether the last connection was ended by ``disconnect(_:)``, and everything up to DISCONNECT has left.
    package var hasSaidGoodbye: Bool {
        loop.preconditionOnLoop()
        return state.pointee.channel == nil && state.pointee.hasSaidGoodbye
    }
}

extension SessionDriver {
    /// Passes an input to the engine, and performs its actions.
    func tell(_ input: (inout State, ContinuousClock.Instant) -> Void) {
        loop.preconditionOnLoop()
        input(&state.pointee, loop.now)
        settle()
        resumeIfStalled()  // An answer may have freed quota.
    }

    /// Writes all packets of the engine, performs its actions, writes their packets, and sets the timer.
    ///
    /// Requests of the observer during its calls are included: acknowledging all messages of a read costs one write.
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
                state.pointee.tap?.wrote(bytes, at: loop.now)
            }
            state.pointee.hasUnwrittenBytes = channel.pendingByteCount > 0
            observer.wrote()
        }
        state.pointee.buffer.removeAll()
    }

    /// Performs actions in order until there are none, also new ones. Messages are in `bytes`.
    private func perform(in bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)) {
        guard !state.pointee.isPerforming, !state.pointee.actions.isEmpty else { return }
        state.pointee.isPerforming = true
        while !state.pointee.actions.isEmpty {
            swap(&state.pointee.actions, &state.pointee.performing)
            // By index, because an iterator would keep the list, which is then copied when it is emptied.
            for index in state.pointee.performing.entries.indices {
                switch state.pointee.performing.entries[index] {
                case .progress(.acknowledged(let token, let code)):
                    state.pointee.answers.append(OutgoingQueue.Answer(token: token, code: code))
                case .progress(let progress): observer.progressed(progress)
                case .message(let index): deliver(state.pointee.performing.messages[index], in: bytes.bytes)
                case .rare(let index):
                    reportAnswers()  // The answers came first.
                    perform(state.pointee.performing.rare[index])
                }
            }
            state.pointee.performing.removeAll()
        }
        state.pointee.isPerforming = false
    }

    /// Reports the broker's answers to messages together, with one lock and one turn of the delivery queue for many.
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
        // A peer that does not read does not get DISCONNECT, either, and waiting bytes take memory.
        if case .protocolError(.answersUnread) = reason {
            state.pointee.channel?.abort()
            return
        }
        flush()  // The DISCONNECT that goes with it.
        state.pointee.channel?.close()
    }

    /// Keeps a timer that fires no later than the engine's deadline: deadlines move with every packet, a timer that is early
    /// costs one call.
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

    /// Gives back the memory that only traffic needs: timers fire when there is little, and seldom enough that having to get
    /// it again costs nothing.
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
    /// Whether the peer has ended the connection without a reason of MQTT. RabbitMQ closes a WebSocket with an internal error if
    /// it does not know the version.
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
            let taken = state.pointee.engine.received(
                rest, now: loop.now, into: &state.pointee.buffer, &state.pointee.actions)
            if let tap = state.pointee.tap { tap.read(rest.extracting(first: taken), at: loop.now) }
            // Messages point into `rest`, so they are handled before the end of the batch. Writes can wait.
            rest.withUnsafeBytes { perform(in: $0) }
            consumed += taken
            // The rest waits in the channel, and not in the queue of a reader that has enough.
            if taken == 0 || isReadingHalted { break }
        }
        return consumed
    }

    private func deliver(_ message: IncomingMessage, in bytes: RawSpan) {
        let payload = bytes.extracting(message.view.payload)
        let properties = bytes.extracting(message.view.properties)
        if let topic = state.pointee.engine.aliasedTopic(of: message) {
            observer.received(message, topic: topic.span.bytes, payload: payload, properties: properties)
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

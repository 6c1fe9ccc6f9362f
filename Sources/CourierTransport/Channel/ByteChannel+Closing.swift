extension ByteChannel {
    // MARK: Called by the owner

    /// Closes the channel in an orderly way and offers no more bytes to the handler. Waiting bytes are written first,
    /// then the WebSocket Close frame, the TLS close alert and the end of our output. ``ChannelHandler/closed(_:)``
    /// follows when the peer has closed too. If the peer does not read or does not close,
    /// ``ChannelOptions/lingerTimeout`` ends the wait. A channel that is still connecting closes at once.
    public func close() {
        loop.preconditionOnLoop()
        switch phase {
        case .connecting, .handshaking, .upgrading: finish(.closedByOwner)
        case .open: beginClosing(.closedByOwner)
        case .closing, .closed: break
        }
    }

    /// Closes the connection at once and discards waiting bytes. A TCP peer sees a reset.
    public func abort() {
        loop.preconditionOnLoop()
        finish(.closedByOwner)
    }

    /// Ends the sending direction after waiting bytes are written, and continues to read. Later writes are ignored.
    /// With WebSocket, this call ends both directions, because the peer answers our Close frame by closing too.
    public func closeOutput() {
        loop.preconditionOnLoop()
        guard phase == .open, outputEnd == .open else { return }
        outputEnd = .requested
        flush()
    }

    // MARK: Called on the loop

    func beginClosing(_ reason: ChannelCloseReason) {
        guard phase == .open else { return }
        phase = .closing(reason)
        if let writeFailure { return finish(.failed(writeFailure)) }
        isReadingPaused = false
        if outputEnd == .open { outputEnd = .requested }
        writtenAtLastLook = writtenByteCount
        startLinger()
        // This block runs later, because it may call the handler, and the handler must not be called while the owner
        // still calls this channel.
        loop.runLater { [self] in
            flushFromLoop()
            finishIfDone()
            queueTurn()
        }
    }

    private func startLinger() {
        let timeout = awaitsPeerEnd ? options.peerCloseTimeout ?? options.lingerTimeout : options.lingerTimeout
        timer = loop.schedule(at: loop.now + timeout) { [weak self] in self?.lingerTimedOut() }
    }

    /// Limits the time in which the peer must close the connection after all bytes were written. TLS responses that are
    /// sent later do not extend this time.
    private func awaitPeerEnd() {
        guard case .closing = phase, !awaitsPeerEnd else { return }
        awaitsPeerEnd = true
        if let timer { loop.cancel(timer) }
        startLinger()
    }

    private func lingerTimedOut() {
        timer = nil
        guard case .closing(let reason) = phase else { return }
        if !awaitsPeerEnd, writtenByteCount != writtenAtLastLook {
            writtenAtLastLook = writtenByteCount
            startLinger()
        } else {
            // If all bytes and our Close frame were written, only the peer's Close frame is missing. The output then
            // counts as ended, so that `finish` does not reset the connection.
            if pendingCount == 0, webSocket?.hasSentClose == true { outputEnd = .done }
            finish(reason)
        }
    }

    /// Ends the sending direction if the owner requested its end. Called when no bytes wait to be written.
    func endOutputIfRequested() {
        switch phase {
        case .connecting, .handshaking, .upgrading, .closed: return
        case .open, .closing: break
        }
        guard outputEnd == .requested else { return }
        if let webSocket {
            // This function runs again when the Close frame is written, and when the peer has answered it.
            if webSocket.beginClose() { return flushFromLoop() }
            guard webSocket.hasPeerEnded || hasInputEnded else { return awaitPeerEnd() }
        }
        if let tls, tls.beginFarewell() {
            // This function runs again when the TLS close alert is written.
            return flushFromLoop()
        }
        outputEnd = .done
        stream?.closeOutput()
        awaitPeerEnd()
        finishIfDone()
    }

    /// Closes the channel if both directions have ended.
    func finishIfDone() {
        guard case .closing(let reason) = phase, hasInputEnded, outputEnd == .done else { return }
        finish(reason)
    }

    /// Closes the channel, releases its resources and reports `last` to the handler. Later calls do nothing.
    func finish(_ last: ChannelCloseReason) {
        guard phase != .closed else { return }
        // If the connection breaks while the channel closes after a failure, the first failure remains the reason.
        let reason =
            switch (phase, last) {
            case (.closing(.failed(let cause)), .failed): ChannelCloseReason.failed(cause)
            case (.handshaking, .failed(let error)), (.upgrading, .failed(let error)):
                ChannelCloseReason.failed(brokenHandshake(error) ?? error)
            default: last
            }
        let wasOrderly = outputEnd == .done && hasInputEnded
        phase = .closed
        if let timer { loop.cancel(timer) }
        timer = nil
        dialer?.cancel()
        dialer = nil
        stream?.close(abruptly: !wasOrderly && isAbrupt(reason))
        stream = nil
        loop.runLater { [self] in
            loop.leave(self)
            tls = nil
            webSocket = nil
            let last = handler
            handler = nil
            stash = ByteQueue()
            outgoing = ByteQueue()
            last?.closed(reason)
        }
    }

    /// Returns a more specific error if `error` broke the connection during a TLS or WebSocket handshake; otherwise
    /// `nil`.
    ///
    /// The handshake may be the cause, because many servers reset a connection whose protocol they do not expect.
    private func brokenHandshake(_ error: TransportError) -> TransportError? {
        guard [.reset, .brokenPipe, .truncated].contains(error.code) else { return nil }
        let deed = error.code == .reset ? "reset" : "closed"
        switch phase {
        case .handshaking: return handshakeBrokenOff(deed, errno: error.errno)
        case .upgrading:
            guard let webSocket, !webSocket.isOpen else { return nil }
            return webSocket.brokenOff(deed, errno: error.errno)
        case .connecting, .open, .closing, .closed: return nil
        }
    }

    /// Returns the error to report if the peer ended the connection during the TLS handshake. `deed` is the peer's
    /// action: `closed` or `reset`.
    func handshakeBrokenOff(_ deed: String, errno: Int32? = nil) -> TransportError {
        let question: String
        switch start {
        case .dial?: question = "; does this port speak TLS?"
        case .accept?, nil: question = ""
        }
        return TransportError(
            .closedDuringHandshake, "connection \(deed) by \(peerName) in the middle of the TLS handshake\(question)",
            errno: errno)
    }

    /// True if the peer should see a reset: the owner closed the channel before our output had ended, or a connection
    /// without TLS failed. False if the loop shuts down.
    private func isAbrupt(_ reason: ChannelCloseReason) -> Bool {
        switch reason {
        case .closedByPeer: false
        case .closedByOwner: outputEnd != .done
        case .failed(let error): error.code == .loopShutDown ? false : tls == nil
        }
    }
}

extension ByteChannel {
    // MARK: The owner's side

    /// Closes in an orderly way: no more bytes are offered; what waits is written, then the farewells of WebSocket and TLS
    /// and the end of our output; ``ChannelHandler/closed(_:)`` follows when the peer has closed too, at the latest when
    /// nothing was written for ``ChannelOptions/lingerTimeout``. After the last byte was written, the peer has the same time to
    /// close. A channel that was still connecting is closed at once.
    public func close() {
        loop.preconditionOnLoop()
        switch phase {
        case .connecting, .handshaking, .upgrading: finish(.closedByOwner)
        case .open: beginClosing(.closedByOwner)
        case .closing, .closed: break
        }
    }

    /// Drops the connection at once, with what waits; a peer over TCP sees a reset.
    public func abort() {
        loop.preconditionOnLoop()
        finish(.closedByOwner)
    }

    /// Ends our output once what waits is written, and continues reading. Nothing can be written after this call. A WebSocket
    /// has no half: the peer answers by its own end.
    public func closeOutput() {
        loop.preconditionOnLoop()
        guard phase == .open, outputEnd == .open else { return }
        outputEnd = .requested
        flush()
    }

    // MARK: The loop's side

    func beginClosing(_ reason: ChannelCloseReason) {
        guard phase == .open else { return }
        phase = .closing(reason)
        if let writeFailure { return finish(.failed(writeFailure)) }
        isReadingPaused = false
        if outputEnd == .open { outputEnd = .requested }
        writtenAtLastLook = writtenByteCount
        startLinger()
        // Not from inside the owner's call: this may end in a callback.
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

    /// All bytes were written. The peer has one linger period from now on to close too, even if TLS answers meanwhile.
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
            // A peer that answers no Close frame has got all that there was: no reason for a reset.
            if pendingCount == 0, webSocket?.hasSentClose == true { outputEnd = .done }
            finish(reason)
        }
    }

    /// All has been written: says so to the peer if the owner wants that.
    func endOutputIfRequested() {
        switch phase {
        case .connecting, .handshaking, .upgrading, .closed: return
        case .open, .closing: break
        }
        guard outputEnd == .requested else { return }
        if let webSocket {
            // Both come here again: when the Close frame is written, and when the peer has answered it.
            if webSocket.beginClose() { return flushFromLoop() }
            guard webSocket.hasPeerEnded || hasInputEnded else { return awaitPeerEnd() }
        }
        if let tls, tls.beginFarewell() {
            // Comes here again when the farewell is written.
            return flushFromLoop()
        }
        outputEnd = .done
        stream?.closeOutput()
        awaitPeerEnd()
        finishIfDone()
    }

    /// Nothing is left to wait for once both directions have ended.
    func finishIfDone() {
        guard case .closing(let reason) = phase, hasInputEnded, outputEnd == .done else { return }
        finish(reason)
    }

    /// Lets everything go and tells the owner. Later calls do nothing.
    func finish(_ last: ChannelCloseReason) {
        guard phase != .closed else { return }
        // That the connection breaks while we close it for a reason is not the reason.
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

    /// What it means that a connection broke by `error` in a handshake; `nil` where that says all.
    ///
    /// Many servers reset what is not their protocol.
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

    /// What it means that the peer has `closed` or `reset` the connection in the middle of the TLS handshake.
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

    /// Whether the peer should see that something went wrong: after an abort by the owner, not after our linger timeout.
    private func isAbrupt(_ reason: ChannelCloseReason) -> Bool {
        switch reason {
        case .closedByPeer: false
        case .closedByOwner: outputEnd != .done
        case .failed(let error): error.code == .loopShutDown ? false : tls == nil
        }
    }
}

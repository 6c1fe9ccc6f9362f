// The WebSocket layer of a channel. It is between the handler and TLS, or between the handler and the stream. All
// methods run on the event loop.
extension ByteChannel {
    // MARK: Opening

    /// Starts the opening handshake. The connecting side sends a request; the accepting side waits for a request.
    func beginUpgrade(_ configuration: WebSocketConfiguration) throws(TransportError) {
        // With the type `any`, the generator has an address in memory. The thread sanitizer checks this address, even
        // though the generator stores no bytes.
        var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
        switch start {
        case .dial(let endpoint, _)?:
            webSocket = try WebSocketSession(
                connecting: configuration, host: endpoint.hostField(isSecure: tlsContext != nil), peerName: peerName,
                using: &generator)
        case .accept?, nil:
            webSocket = try WebSocketSession(accepting: configuration, peerName: peerName, using: &generator)
        }
        phase = .upgrading
        flushFromLoop()
        readTurn()
    }

    func readForUpgrade() throws(TransportError) {
        guard let webSocket else { return }
        let buffer = tls == nil ? loop.readBuffer : loop.decryptedBuffer()
        let (count, fill) = try fillFromBelow(buffer)
        let isDone: Bool
        do throws(TransportError) {
            isDone = try webSocket.advance(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } catch {
            // Tries to send the response that reports the error to the peer.
            try? writeOut()
            throw error
        }
        if isDone {
            // If this read also found the end of the input, another read must follow, because it finds the end again.
            if fill == .ended { isReadable = true }
            try writeOut()
            return didOpen()
        }
        if fill == .ended { throw webSocket.brokenOff("closed") }
        if tls?.wantsFlush == true { flushFromLoop() }
    }

    // MARK: Reading

    /// Reads once, and offers the payload of the frames to the handler like the bytes of a channel without WebSocket.
    func readFramed(_ webSocket: WebSocketSession, _ hasDelivered: inout Bool) throws(TransportError) {
        if let end = webSocket.end { return framesEnded(webSocket, end) }
        let buffer = tls == nil ? loop.readBuffer : loop.decryptedBuffer()
        let fill = try receive(in: buffer, &hasDelivered) { space throws(TransportError) in
            if webSocket.hasEarlyInput {
                let count = webSocket.takeEarlyInput(into: space)
                return (webSocket.unwrap(UnsafeMutableRawBufferPointer(rebasing: space[..<count])), .more)
            }
            let (count, fill) = try fillFromBelow(space)
            return (webSocket.unwrap(UnsafeMutableRawBufferPointer(rebasing: space[..<count])), fill)
        }
        // A Ping has no payload for the handler. It still counts as delivered, because it shows that the peer is alive.
        // A Close frame does not count as delivered, because many peers send it after a long silence.
        if webSocket.hasAnswers { hasDelivered = true }
        if let end = webSocket.end {
            // If reading is paused, the close is handled later: after the pause, the handler first gets its unconsumed
            // bytes.
            if !isReadingPaused { framesEnded(webSocket, end) }
        } else if fill == .ended {
            endReading()
        }
        if webSocket.hasAnswers || tls?.wantsFlush == true { flushFromLoop() }
    }

    /// Reads and discards input until the peer has answered our Close frame.
    func readForFarewell(_ webSocket: WebSocketSession) {
        let buffer = tls == nil ? loop.readBuffer : loop.decryptedBuffer()
        do throws(TransportError) {
            while webSocket.hasEarlyInput {
                let count = webSocket.takeEarlyInput(into: buffer)
                _ = webSocket.unwrap(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            }
            let (count, fill) = try fillFromBelow(buffer)
            _ = webSocket.unwrap(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            if fill == .ended { hasInputEnded = true }
        } catch {
            hasInputEnded = true  // The channel is closing, so an error of the peer does not matter.
        }
        guard hasInputEnded || webSocket.hasPeerEnded || tls?.wantsFlush == true else { return }
        flushFromLoop()
        finishIfDone()
    }

    /// Fills `space` with bytes from the layer below WebSocket: decrypted bytes with TLS, otherwise bytes of the
    /// stream.
    func fillFromBelow(
        _ space: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> (count: Int, fill: Fill) {
        guard let tls else {
            guard let count = try readStream(into: space) else { return (0, .ended) }
            return (count, isReadable ? .more : .exhausted)
        }
        guard try lendInput(to: tls) else { return (0, .ended) }
        defer { tls.keepInput() }
        return try decrypt(tls, into: space)
    }

    // MARK: Closing

    /// Closes the channel after the peer sent a Close frame or violated the protocol.
    private func framesEnded(_ webSocket: WebSocketSession, _ end: WebSocketFrameReader.End) {
        guard phase == .open else { return }
        switch end {
        case .closed:
            handler?.inputClosed()
        case .violated:
            outgoing.removeAll()  // After a violation, the peer gets only the Close frame with the reason.
        }
        beginClosing(closeReason(end))
    }

    /// Returns the channel's close reason for an end of the peer's frames.
    private func closeReason(_ end: WebSocketFrameReader.End) -> ChannelCloseReason {
        switch end {
        case .closed(let status, let reason):
            guard let status, !status.isOrderly else { return .closedByPeer }
            let words = reason.isEmpty ? "" : options.webSocket.map { ": \($0.quoted(reason))" } ?? ""
            return .failed(
                TransportError(.webSocketClosed, "\(peerName) closed the WebSocket with \(status)\(words)"))
        case .violated(let violation):
            return .failed(
                TransportError(
                    .webSocketViolation,
                    "\(peerName) \(violation.deed); the WebSocket was closed with \(violation.status)"))
        }
    }

    /// The error to report if the input ends in the middle of a WebSocket message.
    var cutOff: TransportError {
        TransportError(
            .truncated, "connection closed by \(peerName) in the middle of a WebSocket message; bytes may be missing")
    }
}

extension TransportEndpoint {
    /// Returns the `Host` field of a request (RFC 9110, section 7.2). The default port is left out.
    fileprivate func hostField(isSecure: Bool) -> String {
        guard case .tcp(let host, let port) = self else { return "localhost" }
        // The zone of an IPv6 address, such as `%eth0`, is removed, because it is valid only on this machine.
        let name = String(host.prefix { $0 != "%" })
        let bracketed = name.contains(":") ? "[\(name)]" : name
        return port == (isSecure ? 443 : 80) ? bracketed : "\(bracketed):\(port)"
    }
}

// The layer between TLS, or the stream itself, and the handler. All on the loop.
extension ByteChannel {
    // MARK: Opening

    /// Asks for a WebSocket, or waits to be asked for one.
    func beginUpgrade(_ configuration: WebSocketConfiguration) throws(TransportError) {
        // In a box, so that it has a place in memory: the thread sanitizer looks at the one of an empty value all the same.
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
            // The answer that tells the peer what was wrong.
            try? writeOut()
            throw error
        }
        if isDone {
            // An end that came with it is found again by the next read.
            if fill == .ended { isReadable = true }
            try writeOut()
            return didOpen()
        }
        if fill == .ended { throw webSocket.brokenOff("closed") }
        if tls?.wantsFlush == true { flushFromLoop() }
    }

    // MARK: Reading

    /// One read of frames; what is in them is offered as bytes without frames would be.
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
        // A Ping brings nothing, but the word that the peer is there. Unlike a Close frame, which many send after a silence.
        if webSocket.hasAnswers { hasDelivered = true }
        if let end = webSocket.end {
            // A pause first gets what it has left over, and then the end.
            if !isReadingPaused { framesEnded(webSocket, end) }
        } else if fill == .ended {
            endReading()
        }
        if webSocket.hasAnswers || tls?.wantsFlush == true { flushFromLoop() }
    }

    /// Reads and forgets until the peer has answered our Close frame.
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
            hasInputEnded = true  // We are leaving: how the peer leaves matters to nobody.
        }
        guard hasInputEnded || webSocket.hasPeerEnded || tls?.wantsFlush == true else { return }
        flushFromLoop()
        finishIfDone()
    }

    /// Fills `space` with what lies below the frames: decrypted bytes, or those of the stream.
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

    // MARK: Ending

    /// The peer has closed the WebSocket, or broken it.
    private func framesEnded(_ webSocket: WebSocketSession, _ end: WebSocketFrameReader.End) {
        guard phase == .open else { return }
        switch end {
        case .closed:
            handler?.inputClosed()
        case .violated:
            outgoing.removeAll()  // Nothing but the reason is for such a peer.
        }
        beginClosing(closeReason(end))
    }

    /// Why the channel closes, by how the peer's frames ended.
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

    /// What it means that the input ended in the middle of a message.
    var cutOff: TransportError {
        TransportError(
            .truncated, "connection closed by \(peerName) in the middle of a WebSocket message; bytes may be missing")
    }
}

extension TransportEndpoint {
    /// What a request says as `Host` (RFC 9110, section 7.2): the port where it is not the usual one.
    fileprivate func hostField(isSecure: Bool) -> String {
        guard case .tcp(let host, let port) = self else { return "localhost" }
        // The zone of an address means something on this machine only.
        let name = String(host.prefix { $0 != "%" })
        let bracketed = name.contains(":") ? "[\(name)]" : name
        return port == (isSecure ? 443 : 80) ? bracketed : "\(bracketed):\(port)"
    }
}

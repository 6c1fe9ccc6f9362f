extension ByteChannel {
    // MARK: Called by the owner

    /// Stops offering bytes to the handler. The peer must wait when the buffers between the two sides are full. If the
    /// peer ends or resets the connection during the pause, this is detected when reading resumes. Only if the
    /// operating system reports a failed connection, the channel closes at once.
    public func pauseReading() {
        loop.preconditionOnLoop()
        isReadingPaused = true
    }

    /// Offers bytes to the handler again, first the unconsumed bytes. The handler is called soon, after this call has
    /// returned.
    public func resumeReading() {
        loop.preconditionOnLoop()
        guard isReadingPaused else { return }
        isReadingPaused = false
        offersStash = !stash.isEmpty
        queueTurn()
    }

    /// True while the owner has paused reading.
    public var isPaused: Bool {
        loop.preconditionOnLoop()
        return isReadingPaused
    }

    // MARK: Called on the loop

    /// The result of one attempt to fill a buffer.
    enum Fill { case more, exhausted, ended }

    /// Reads until no input is left, or until ``ChannelOptions/readsPerTurn`` reads were made.
    func readTurn() {
        guard !isTurnQueued, !isTurnRunning else { return }
        isTurnRunning = true
        var hasDelivered = false
        var reads = 0
        while mayRead {
            if reads >= options.readsPerTurn {
                queueTurn()
                break
            }
            reads += 1
            do throws(TransportError) {
                try readOnce(&hasDelivered)
            } catch {
                // A TLS error explains why an earlier write failed, so it has precedence over the write error.
                finish(.failed(error.code.isOfTLS ? error : writeFailure ?? error))
            }
        }
        isTurnRunning = false
        if hasDelivered { handler?.readBatchEnded() }
        if let writeFailure, !mayRead { finish(.failed(writeFailure)) }
    }

    func queueTurn() {
        if isTurnQueued { return }
        isTurnQueued = true
        loop.runLater { [self] in
            isTurnQueued = false
            readTurn()
        }
    }

    private var mayRead: Bool {
        switch phase {
        case .connecting, .closed: false
        case .handshaking: isReadable
        case .upgrading: isReadable || tls?.hasInput == true
        case .open:
            !isReadingPaused
                && (isReadable || offersStash || !isBare && (tls?.hasInput == true || webSocket?.hasNews == true))
        case .closing:
            !hasInputEnded
                && (isReadable || isEncrypting && tls?.hasInput == true
                    || webSocket?.hasPeerEnded == false && (tls?.hasInput == true || webSocket?.hasEarlyInput == true))
        }
    }

    /// True while bytes wait to be encrypted. TLS may need input from the peer before it can encrypt.
    private var isEncrypting: Bool { tls != nil && (!outgoing.isEmpty || webSocket?.hasOutput == true) }

    private func readOnce(_ hasDelivered: inout Bool) throws(TransportError) {
        switch phase {
        case .connecting, .closed: break
        case .handshaking: try readForHandshake()
        case .upgrading: try readForUpgrade()
        case .closing: try readForNothing()
        case .open:
            if offersStash {
                offersStash = false
                hasDelivered = true
                offerStash()
            } else if let webSocket {
                try readFramed(webSocket, &hasDelivered)
            } else if let tls {
                try readSecure(tls, &hasDelivered)
            } else {
                try readPlain(&hasDelivered)
            }
        }
    }

    /// Reads once from the stream. Returns the number of bytes, or `nil` at the end of the stream.
    func readStream(into space: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
        guard let stream else { return 0 }
        var span = space.mutableBytes
        let result = try stream.read(into: &span)
        switch result {
        case .bytes(let count):
            precondition(count <= space.count, "a stream reports that it read more bytes than the buffer can hold")
            if count <= 0 { isReadable = false }
            return max(0, count)
        case .bytesThenWait(let count):
            precondition(count <= space.count, "a stream reports that it read more bytes than the buffer can hold")
            isReadable = false
            return max(0, count)
        case .ended:
            isReadable = false
            return nil
        }
    }

    private func readPlain(_ hasDelivered: inout Bool) throws(TransportError) {
        let fill = try receive(in: loop.readBuffer, &hasDelivered) { space throws(TransportError) in
            guard let count = try readStream(into: space) else { return (0..<0, .ended) }
            return (0..<count, isReadable ? .more : .exhausted)
        }
        if fill == .ended { inputEnded() }
    }

    private func readSecure(_ tls: TLSSession, _ hasDelivered: inout Bool) throws(TransportError) {
        guard try lendInput(to: tls) else { return inputEnded() }
        // The loop reuses the read buffer, so input that is not decrypted yet is copied into the session.
        defer { tls.keepInput() }
        var fill = Fill.more
        while fill == .more, phase == .open, !isReadingPaused {
            fill = try receive(in: loop.decryptedBuffer(), &hasDelivered) { space throws(TransportError) in
                let (count, fill) = try decrypt(tls, into: space)
                return (0..<count, fill)
            }
        }
        if fill == .ended { endReading() }
        if tls.wantsFlush { flushFromLoop() }
    }

    /// Reads from the stream and lends the bytes to `tls`, unless `tls` still has input. Returns `false` at the end of
    /// the stream.
    func lendInput(to tls: TLSSession) throws(TransportError) -> Bool {
        if tls.hasInput { return true }
        guard let count = try readStream(into: loop.readBuffer) else {
            if tls.hasPeerClosed { return false }
            throw TransportError(
                .truncated, "connection closed by \(peerName) without a TLS close_notify; bytes may be missing")
        }
        tls.borrowInput(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
        return true
    }

    /// Decrypts the input that was lent to TLS, until `space` is full or the input is used up.
    func decrypt(
        _ tls: TLSSession, into space: UnsafeMutableRawBufferPointer
    ) throws(TransportError) -> (count: Int, fill: Fill) {
        var filled = 0
        while filled < space.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: space[filled...])
            switch try tls.read(into: rest) {
            case .bytes(let count): filled += count
            case .needsInput: return (filled, .exhausted)
            case .ended: return (filled, .ended)
            }
        }
        return (filled, .more)
    }

    private func readForHandshake() throws(TransportError) {
        guard let tls else { return }
        guard let count = try readStream(into: loop.readBuffer) else { throw handshakeBrokenOff("closed") }
        guard count > 0 else { return }
        tls.borrowInput(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
        defer { tls.keepInput() }
        try advanceHandshake()
    }

    /// Reads and discards input while the channel closes, because unread input would make the system reset the
    /// connection before the peer has read our last bytes.
    private func readForNothing() throws(TransportError) {
        if let webSocket, !webSocket.hasPeerEnded { return readForFarewell(webSocket) }
        if isEncrypting { return try readForEncryption() }
        if try readStream(into: loop.readBuffer) == nil {
            hasInputEnded = true
            finishIfDone()
        }
    }

    /// Reads and decrypts input, and discards the decrypted bytes. TLS may need this input before it can encrypt the
    /// bytes that wait to be written.
    private func readForEncryption() throws(TransportError) {
        do throws(TransportError) {
            if try fillFromBelow(loop.decryptedBuffer()).fill == .ended { hasInputEnded = true }
        } catch {
            guard error.code == .truncated else { throw error }
            hasInputEnded = true
        }
        if tls?.wantsFlush == true { flushFromLoop() }
        finishIfDone()
    }

    /// Continues the TLS handshake with the available input, and sends the response.
    func advanceHandshake() throws(TransportError) {
        guard let tls, phase == .handshaking else { return }
        let step: TLSSession.Step
        do throws(TransportError) {
            step = try tls.advance()
        } catch {
            // Sends the TLS alert that reports the problem to the peer.
            try? writeOut()
            throw error
        }
        try writeOut()
        if step == .done { try didConnect() }
    }

    // MARK: Delivering

    /// Reads new bytes with `fill`, and offers them to the handler after the bytes that it has not consumed yet.
    ///
    /// `fill` fills the given space, and returns the range that holds bytes for the handler. Normally, the space is in
    /// `shared`, the buffer that all channels of the loop use. If the unconsumed bytes need more than half of `shared`,
    /// the space is in `stash`, the channel's own buffer.
    @inline(__always)
    func receive(
        in shared: UnsafeMutableRawBufferPointer, _ hasDelivered: inout Bool,
        _ fill: (UnsafeMutableRawBufferPointer) throws(TransportError) -> (place: Range<Int>, fill: Fill)
    ) throws(TransportError) -> Fill {
        let kept = stash.count
        guard kept <= shared.count / 2 else {
            let room = stash.room(shared.count / 2)
            let (place, result) = try fill(room)
            if place.lowerBound > 0, let start = room.baseAddress {
                start.copyMemory(from: start + place.lowerBound, byteCount: place.count)
            }
            stash.didAppend(place.count)
            if !place.isEmpty {
                hasDelivered = true
                offerStash()
            }
            return result
        }
        let (place, result) = try fill(UnsafeMutableRawBufferPointer(rebasing: shared[kept...]))
        guard !place.isEmpty else { return result }
        // `place` is the range of the new bytes, counted from index `kept` of `shared`. So `shared` has at least `kept`
        // free bytes before the new bytes. The unconsumed bytes are copied there, so that both are contiguous.
        let all = place.lowerBound..<(kept + place.upperBound)
        if kept > 0 {
            UnsafeMutableRawBufferPointer(rebasing: shared[all]).copyMemory(from: stash.contents)
            stash.removeAll()
        }
        hasDelivered = true
        let bytes = UnsafeRawBufferPointer(rebasing: shared[all])
        let consumed = offer(bytes)
        if consumed < bytes.count {
            stash.append(UnsafeRawBufferPointer(rebasing: bytes[consumed...]))
            checkRemainder()
        } else {
            stash.trim(above: ByteQueue.keptCapacity)
        }
        return result
    }

    private func offerStash() {
        stash.removeFirst(offer(stash.contents))
        if stash.isEmpty { stash.trim(above: ByteQueue.keptCapacity) } else { checkRemainder() }
    }

    private func offer(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let handler else { return bytes.count }
        let consumed = handler.received(bytes.bytes)
        precondition(consumed >= 0 && consumed <= bytes.count, "a handler consumed more bytes than it was offered")
        return consumed
    }

    private func checkRemainder() {
        guard stash.count > options.remainderLimit else { return }
        finish(
            .failed(
                TransportError(
                    .remainderTooLong,
                    "\(stash.count) bytes from \(peerName) stayed unread; the limit is \(options.remainderLimit)")))
    }

    /// Handles the end of the input. While reading is paused, the end is not reported: after the pause, the unconsumed
    /// bytes are offered first, and the next read finds the end again.
    func endReading() {
        if isReadingPaused { isReadable = true } else { inputEnded() }
    }

    func inputEnded() {
        guard phase == .open, !hasInputEnded else { return }
        if let webSocket, webSocket.isInsideMessage { return finish(.failed(cutOff)) }
        hasInputEnded = true
        isReadable = false
        handler?.inputClosed()
        if phase == .open, !options.staysOpenAfterInputClosed { beginClosing(.closedByPeer) }
    }
}

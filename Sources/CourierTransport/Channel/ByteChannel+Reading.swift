extension ByteChannel {
    // MARK: The owner's side

    /// Stops offering bytes; the peer is held up once the buffers between are full. An end or a reset that the peer
    /// sends meanwhile is seen when reading resumes, except where the operating system reports a dead connection.
    public func pauseReading() {
        loop.preconditionOnLoop()
        isReadingPaused = true
    }

    /// Offers bytes again, first those that were left over, soon but not from inside this call.
    public func resumeReading() {
        loop.preconditionOnLoop()
        guard isReadingPaused else { return }
        isReadingPaused = false
        offersStash = !stash.isEmpty
        queueTurn()
    }

    /// Whether the owner has paused reading.
    public var isPaused: Bool {
        loop.preconditionOnLoop()
        return isReadingPaused
    }

    // MARK: The loop's side

    /// What one attempt to fill a buffer came to.
    enum Fill { case more, exhausted, ended }

    /// Reads as long as there is something, but not more than a turn's share.
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
                // What TLS says is the reason why the peer takes nothing any more.
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

    /// Whether something waits to be encrypted, for which TLS may need what the peer says.
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

    /// One read of the stream; the count, and `nil` at the end.
    func readStream(into space: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int? {
        guard let stream else { return 0 }
        var span = space.mutableBytes
        let result = try stream.read(into: &span)
        switch result {
        case .bytes(let count):
            precondition(count <= space.count, "a stream read more than there was room for")
            if count <= 0 { isReadable = false }
            return max(0, count)
        case .bytesThenWait(let count):
            precondition(count <= space.count, "a stream read more than there was room for")
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
        // The read buffer is the loop's: what a pause leaves undecrypted moves into the session.
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

    /// Reads the stream into the loop's buffer and lends it, unless there is input already; `false` at the end.
    func lendInput(to tls: TLSSession) throws(TransportError) -> Bool {
        if tls.hasInput { return true }
        guard let count = try readStream(into: loop.readBuffer) else {
            if tls.hasPeerClosed { return false }
            throw TransportError(
                .truncated, "connection closed by \(peerName) without the TLS farewell; bytes may be missing")
        }
        tls.borrowInput(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
        return true
    }

    /// Decrypts what was lent, as far as it fills `space`.
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

    /// Reads and forgets, so that closing does not reset the connection before the peer has read what we wrote.
    private func readForNothing() throws(TransportError) {
        if let webSocket, !webSocket.hasPeerEnded { return readForFarewell(webSocket) }
        if isEncrypting { return try readForEncryption() }
        if try readStream(into: loop.readBuffer) == nil {
            hasInputEnded = true
            finishIfDone()
        }
    }

    /// The same, but TLS sees it.
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

    /// Takes the next step of the handshake with the input that is there, and sends the answer.
    func advanceHandshake() throws(TransportError) {
        guard let tls, phase == .handshaking else { return }
        let step: TLSSession.Step
        do throws(TransportError) {
            step = try tls.advance()
        } catch {
            // The alert that tells the peer what was wrong.
            try? writeOut()
            throw error
        }
        try writeOut()
        if step == .done { try didConnect() }
    }

    // MARK: Delivering

    /// Fills `shared` behind what was left over, or what was left over itself if that is long, and offers it all. `fill`
    /// says where in its space the bytes for the handler lie.
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
        // `place` counts from where `kept` bytes end, so that many fit in front of it.
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
                    "\(stash.count) bytes from \(peerName) were left unread, the limit is \(options.remainderLimit)")))
    }

    /// The input has ended; a pause first gets what it has left over, and the end is found again behind it.
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

extension ByteChannel {
    // MARK: The owner's side

    /// How many bytes wait to be written.
    public var pendingByteCount: Int {
        loop.preconditionOnLoop()
        return pendingCount
    }

    /// Whether so much waits that the owner should stop writing until ``ChannelHandler/fellBelowLowWater()``.
    public var isAboveHighWater: Bool {
        loop.preconditionOnLoop()
        return isHighWater
    }

    /// Writes `bytes` behind all that waits: as much as goes now, the rest as soon as the peer takes it.
    ///
    /// Each call is one write to the operating system, so collect before. After the channel was closed it does nothing.
    public func write(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard takesOutput else { return }
        guard isBare, isWritable, outgoing.isEmpty, phase == .open else {
            bytes.withUnsafeBytes { add($0) }
            return flushFromOwner()
        }
        // Straight from the caller's memory; only what the peer does not take now is copied.
        do throws(TransportError) {
            let taken = try writeStream(bytes)
            if taken < bytes.byteCount {
                bytes.withUnsafeBytes { outgoing.append(UnsafeRawBufferPointer(rebasing: $0[taken...])) }
            }
            didWrite(from: .owner)
        } catch {
            writingFailed(error)
        }
    }

    /// Adds `bytes` to what waits, to be written by the next ``flush()``.
    public func append(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard takesOutput else { return }
        bytes.withUnsafeBytes { outgoing.append($0) }
    }

    /// Writes what waits, as far as the peer takes it now; the rest follows by itself.
    public func flush() {
        loop.preconditionOnLoop()
        flushFromOwner()
    }

    /// Whether what is written now is taken, and not thrown away because of the end.
    package var takesOutput: Bool {
        guard outputEnd == .open, writeFailure == nil else { return false }
        switch phase {
        case .connecting, .handshaking, .upgrading, .open: return true
        case .closing, .closed: return false
        }
    }

    /// Whether what is written now leaves at once, on any thread: by a system call that raises no signal, and without the
    /// handler being called back.
    package var isReadyToSend: Bool {
        loop.preconditionOnLoop()
        guard phase == .open, isWritable, takesOutput, !isReadingPaused, pendingCount == 0 else { return false }
        return (stream as? DescriptorStream)?.isSocket == true
    }

    /// Whether everything was written, and our output ended behind it. It can still be asked when the channel is gone.
    package var hasEndedOutput: Bool {
        loop.preconditionOnLoop()
        return outputEnd == .done
    }

    // MARK: The loop's side

    /// Who made us write: the owner is not called back from inside its own call.
    private enum Cause { case owner, loop }

    var pendingCount: Int {
        isBare ? outgoing.count : outgoing.count + (webSocket?.outputCount ?? 0) + (tls?.outputCount ?? 0)
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        // Into a frame at once, which saves a copy, unless more is waiting in front.
        if let webSocket, outgoing.isEmpty, webSocket.isOpen { webSocket.wrap(bytes) } else { outgoing.append(bytes) }
    }

    private func flushFromOwner() { flush(from: .owner) }

    func flushFromLoop() { flush(from: .loop) }

    private func flush(from cause: Cause) {
        switch phase {
        case .connecting, .closed: return updateHighWater()
        case .handshaking, .upgrading, .open, .closing: break
        }
        guard writeFailure == nil else { return }
        do throws(TransportError) {
            try writeOut()
            didWrite(from: cause)
        } catch {
            writingFailed(error)
        }
    }

    /// Writes until nothing waits or the stream takes no more.
    func writeOut() throws(TransportError) {
        while isWritable {
            if let webSocket, webSocket.isOpen { webSocket.wrap(&outgoing, limit: EventLoop.readBufferSize) }
            if let tls {
                if phase != .handshaking { try encrypt(tls) }
                guard tls.hasOutput else { return }
                tls.removeOutput(try writeStream(tls.output.bytes))
            } else if let webSocket {
                guard webSocket.hasOutput else { return }
                webSocket.removeOutput(try writeStream(webSocket.output.bytes))
            } else {
                guard !outgoing.isEmpty else { return }
                outgoing.removeFirst(try writeStream(outgoing.contents.bytes))
            }
        }
    }

    /// Encrypts what waits, unless enough encrypted bytes wait already, as far as TLS takes it now.
    private func encrypt(_ tls: TLSSession) throws(TransportError) {
        if let webSocket {
            while webSocket.hasOutput, tls.outputCount < EventLoop.readBufferSize {
                let count = try tls.write(webSocket.output)
                if count == 0 { break }
                webSocket.removeOutput(count)
            }
            return
        }
        while !outgoing.isEmpty, tls.outputCount < EventLoop.readBufferSize {
            let count = try tls.write(outgoing.contents)
            if count == 0 { break }
            outgoing.removeFirst(count)
        }
        if outgoing.isEmpty { outgoing.trim(above: ByteQueue.keptCapacity) }
    }

    /// Hands `bytes` to the stream until it has all or takes no more; the count it took.
    private func writeStream(_ bytes: RawSpan) throws(TransportError) -> Int {
        guard let stream else { return 0 }
        var taken = 0
        while taken < bytes.byteCount, isWritable {
            let rest = bytes.extracting(taken..<bytes.byteCount)
            switch try stream.write(rest) {
            case .bytes(let count):
                precondition(count <= rest.byteCount, "a stream wrote more than it was given")
                if count <= 0 { isWritable = false }
                taken += max(0, count)
            case .bytesThenWait(let count):
                precondition(count <= rest.byteCount, "a stream wrote more than it was given")
                isWritable = false
                taken += max(0, count)
            }
        }
        writtenByteCount &+= taken
        return taken
    }

    private func didWrite(from cause: Cause) {
        if outgoing.isEmpty { outgoing.trim(above: ByteQueue.keptCapacity) }
        let pending = pendingCount
        switch cause {
        case .owner:
            if pending > 0 { isWriteBlocked = true }
            updateHighWater()
        case .loop:
            if isHighWater, pending <= options.lowWaterMark {
                isHighWater = false
                if phase == .open { handler?.fellBelowLowWater() }
            }
            if pendingCount > 0 {
                isWriteBlocked = true
            } else if isWriteBlocked {
                isWriteBlocked = false
                if phase == .open { handler?.drained() }
            }
        }
        if pendingCount == 0 { endOutputIfRequested() }
    }

    private func updateHighWater() {
        if pendingCount >= options.highWaterMark { isHighWater = true }
    }

    /// What the peer sent before it stopped reading may say why, so that is read first.
    func writingFailed(_ error: TransportError) {
        guard phase != .closed else { return }
        guard phase == .open, !isReadingPaused else { return finish(.failed(error)) }
        isWritable = false
        writeFailure = error
        isReadable = true
        queueTurn()
    }
}

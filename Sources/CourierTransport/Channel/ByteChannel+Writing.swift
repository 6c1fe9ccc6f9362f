extension ByteChannel {
    // MARK: Called by the owner

    /// The number of bytes that wait to be written.
    public var pendingByteCount: Int {
        loop.preconditionOnLoop()
        return pendingCount
    }

    /// True if many bytes wait to be written. The owner should then not write until
    /// ``ChannelHandler/fellBelowLowWater()`` is called.
    public var isAboveHighWater: Bool {
        loop.preconditionOnLoop()
        return isHighWater
    }

    /// Writes `bytes` after all waiting bytes. Bytes that the stream does not accept now are written as soon as the
    /// stream accepts them.
    ///
    /// Each call may make a system call, so combine small writes. After the channel was closed, the call does nothing.
    public func write(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard takesOutput else { return }
        guard isBare, isWritable, outgoing.isEmpty, phase == .open else {
            bytes.withUnsafeBytes { add($0) }
            return flushFromOwner()
        }
        // The stream reads the caller's memory directly. Only bytes that it does not accept now are copied.
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

    /// Adds `bytes` to the waiting bytes. The next ``flush()`` writes them.
    public func append(_ bytes: RawSpan) {
        loop.preconditionOnLoop()
        guard takesOutput else { return }
        bytes.withUnsafeBytes { outgoing.append($0) }
    }

    /// Writes as many waiting bytes as the stream accepts now. The remaining bytes are written later, automatically.
    public func flush() {
        loop.preconditionOnLoop()
        flushFromOwner()
    }

    /// True if bytes can be written now. Otherwise the output has ended or failed, and a write is ignored.
    package var takesOutput: Bool {
        guard outputEnd == .open, writeFailure == nil else { return false }
        switch phase {
        case .connecting, .handshaking, .upgrading, .open: return true
        case .closing, .closed: return false
        }
    }

    /// True if a write would send its bytes at once. A caller that has borrowed the loop may then write, because the
    /// write to the socket raises no signal and does not call the handler.
    package var isReadyToSend: Bool {
        loop.preconditionOnLoop()
        guard phase == .open, isWritable, takesOutput, !isReadingPaused, pendingCount == 0 else { return false }
        return (stream as? DescriptorStream)?.isSocket == true
    }

    /// True if everything was written and our output has ended. The value remains available after the channel has
    /// closed.
    package var hasEndedOutput: Bool {
        loop.preconditionOnLoop()
        return outputEnd == .done
    }

    // MARK: Called on the loop

    /// The caller of a write: the channel's owner or the loop. The cause matters, because the handler must not be
    /// called during a write by the owner.
    private enum Cause { case owner, loop }

    var pendingCount: Int {
        isBare ? outgoing.count : outgoing.count + (webSocket?.outputCount ?? 0) + (tls?.outputCount ?? 0)
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        // If no earlier bytes wait, the bytes are put into a frame at once, which saves a copy.
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

    /// Writes until no bytes wait or the stream accepts no more.
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

    /// Encrypts waiting bytes until TLS accepts no more. Stops earlier if the encrypted bytes that wait would fill one
    /// read buffer.
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

    /// Writes `bytes` until all are written or the stream accepts no more. Returns the number of bytes written.
    private func writeStream(_ bytes: RawSpan) throws(TransportError) -> Int {
        guard let stream else { return 0 }
        var taken = 0
        while taken < bytes.byteCount, isWritable {
            let rest = bytes.extracting(taken..<bytes.byteCount)
            switch try stream.write(rest) {
            case .bytes(let count):
                precondition(
                    count <= rest.byteCount, "a stream reports that it wrote more bytes than the channel passed to it")
                if count <= 0 { isWritable = false }
                taken += max(0, count)
            case .bytesThenWait(let count):
                precondition(
                    count <= rest.byteCount, "a stream reports that it wrote more bytes than the channel passed to it")
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

    /// Handles a write error. Received bytes are read first, because they may contain the reason why the peer stopped
    /// reading.
    func writingFailed(_ error: TransportError) {
        guard phase != .closed else { return }
        guard phase == .open, !isReadingPaused else { return finish(.failed(error)) }
        isWritable = false
        writeFailure = error
        isReadable = true
        queueTurn()
    }
}

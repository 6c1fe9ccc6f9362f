import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Stores and reads jobs: received messages that a processor must handle.
extension DurableInbox {
    /// Stores a message as the job with this id. Afterwards, the message can be acknowledged. `settled` is called on
    /// the event loop.
    ///
    /// If the message waited in the store for a reader, the same commit removes its row. For a QoS 2 message, the same
    /// commit stores the packet id, so that the client recognizes a repetition after a crash. `awaits` returns whether
    /// the broker still waits for the acknowledgement of a message.
    func addJob(
        _ message: ReceivedMessage, as id: StoredMessage.ID, awaits: (IncomingMessage.Handle) -> Bool,
        state: (StoreTime) -> StoredJob.State, settled: @escaping (Result<Void, JobQueue.Refusal>) -> Void
    ) {
        loop.preconditionOnLoop()
        let row = StoredMessage(message, id, at: time, for: nil)
        var changes: [StoreChange] = [.addJob(StoredJob(row, state(time)))]
        var moved: (id: StoredMessage.ID, epoch: Int)?
        switch message.ticket?.receipt {
        case .delivery(let handle):
            let isAwaited = awaits(handle)
            // If the broker no longer waits for the acknowledgement of a QoS 1 message, do not store the message as a
            // job. The message was received on an earlier connection, so the broker sends it again.
            guard handle.qos == .exactlyOnce || isAwaited else { return settled(.failure(.sentAgain)) }
            // Store the packet id only if this message has no other reader. With the packet id, the client would ignore
            // the message after a crash, and another reader that has not finished would lose it.
            if handle.qos == .exactlyOnce, isAwaited, message.ticket?.isSingle == true {
                changes.append(.rememberPacketID(handle.packetID.rawValue))
            }
        case .row(let rowID, let epoch):
            guard epoch == self.epoch(), handedOut.contains(rowID), removing.insert(rowID).inserted else {
                return settled(.failure(.sentAgain))
            }
            moved = (rowID, epoch)
            changes.append(.removeIncoming(rowID))
        case .kept, nil: break
        }
        let byteCount = message.page.byteCount + row.payload.count + row.properties.heldByteCount
        addUnstoredBytes(byteCount)
        additions.add(changes, isRefusable: true) { [weak self] outcome in
            self?.removeUnstoredBytes(byteCount)
            switch outcome {
            case .success:
                if let moved { self?.wasRemoved(moved.id, of: moved.epoch) }
                settled(.success(()))
            case .failure(let error):
                if let moved { self?.removing.remove(moved.id) }
                settled(.failure(error.code == .clientDestroyed ? .sentAgain : .noRoom(error.message)))
            }
        }
    }

    /// Stores changes of jobs. `settled` is called on the event loop when the changes are stored. If the session was
    /// destroyed or the client has ended, `settled` is called with an error.
    func changeJobs(_ changes: [StoreChange], settled: @escaping (Result<Void, CourierError>) -> Void) {
        loop.preconditionOnLoop()
        steps.add(changes, settled: settled)
    }
}

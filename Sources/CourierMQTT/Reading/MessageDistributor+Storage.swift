import CourierCore
import CourierTransport
import Foundation

/// Reads stored messages for a new reader, a limited number at a time. The reader receives the stored messages before
/// newly arrived messages.
extension MessageDistributor {
    /// The time between a failed read of the store and the next attempt, 1 s.
    private static let retryInterval = Duration.seconds(1)

    /// Lets all readers read the messages that an earlier process stored.
    func rowsAppeared() {
        loop.preconditionOnLoop()
        guard rows?.hasRows == true else { return }
        for id in state.pointee.readers.indices where state.pointee.readers[id] != nil { beginCatchUp(id) }
    }

    /// Reads the store for the readers of `topic`, because a message was stored. If `isGivenBack` is `true`, the
    /// message was stored before, and a reader has left it unfinished. Skips readers whose serial number is at most
    /// `serial`, because these readers have already received the message.
    func rowAppeared(_ topic: String, after serial: Int = 0, isGivenBack: Bool = false) {
        guard state.pointee.lastSerial > serial, state.pointee.readers.contains(where: { $0 != nil }),
            let name = try? TopicName(received: topic)
        else { return }
        for id in state.pointee.readers.indices {
            guard let reader = state.pointee.readers[id], reader.serial > serial, reader.filter?.matches(name) ?? true
            else { continue }
            beginCatchUp(id, isGivenBack: isGivenBack)
        }
    }

    /// Starts to read the stored messages for a reader. Reading from the broker pauses until the reader has received
    /// all of them.
    ///
    /// If the store is already being read for this reader, it is read once more afterward. If `isGivenBack` is `true`,
    /// another reader has left a stored message unfinished. The running read may have passed this message, so the next
    /// read starts at the first row.
    func beginCatchUp(_ id: ReaderID, isGivenBack: Bool = false) {
        guard state.pointee.readers[id]?.catchUp == nil else {
            state.pointee.readers[id]?.catchUp?.isOutdated = true
            if isGivenBack { state.pointee.readers[id]?.catchUp?.startsAnew = true }
            return
        }
        state.pointee.lastSerial += 1
        state.pointee.readers[id]?.catchUp = CatchUp(serial: state.pointee.lastSerial)
        fellBehind()
        goOn(id)
    }

    /// Reads the next stored messages for a reader, unless a read is running or the reader's queue is full.
    func goOn(_ id: ReaderID) {
        guard let rows, let reader = state.pointee.readers[id], let catchUp = reader.catchUp, !catchUp.isReading,
            !reader.isBehind
        else { return }
        let last = catchUp.startsAnew ? nil : catchUp.last
        state.pointee.readers[id]?.catchUp = CatchUp(serial: catchUp.serial, last: last, isReading: true)
        rows.read(reader.filter, after: last) { [weak self] page in
            self?.received(page, for: id, catchUp.serial)
        }
    }

    private func received(
        _ page: Result<DurableInbox.Page, CourierError>, for id: ReaderID, _ serial: Int
    ) {
        guard let reader = state.pointee.readers[id], let catchUp = reader.catchUp, catchUp.serial == serial else {
            // The reader was removed during the read, so make these rows available to the next reader.
            if case .success(let page) = page { for row in page.rows { rows?.giveBack(row.id, of: page.epoch) } }
            return
        }
        state.pointee.readers[id]?.catchUp?.isReading = false
        switch page {
        case .success(let page):
            var slices = page.rows.map { MessageSlice(message($0, of: page.epoch)) }
            if !slices.isEmpty { push(&slices, to: id) }
            guard page.mayHaveMore || catchUp.isOutdated else { return endCatchUp(id) }
            state.pointee.readers[id]?.catchUp?.last = page.last
            goOn(id)
        case .failure(let error):
            dependencies.tell(.messageStoreFailure(error: error))
            loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
                guard self?.state.pointee.readers[id]?.catchUp?.serial == serial else { return }
                self?.goOn(id)
            }
        }
    }

    func endCatchUp(_ id: ReaderID) {
        state.pointee.readers[id]?.catchUp = nil
        pushShare(to: id)
        caughtUp()
    }

    /// Converts a stored row to a message. The row stays in the store until the reader has acknowledged the message.
    private func message(_ row: StoredMessage, of epoch: Int) -> ReceivedMessage {
        let page = MessagePage(
            Data(row.payload), topic: row.topic, qos: row.qos, packetID: nil, isRetained: row.isRetained,
            isDuplicate: false, properties: row.properties)
        let ticket = AcknowledgementTicket(.row(row.id, epoch: epoch), readers: 1, done: dependencies.finished)
        return ReceivedMessage(page: page, index: 0, arrival: state.pointee.lastSerial, ticket: ticket)
    }
}

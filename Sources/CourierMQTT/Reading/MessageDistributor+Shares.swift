import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

/// Collects the arrived messages of each reader, and passes them to the readers' queues in batches.
extension MessageDistributor {
    /// Adds an arrived message to the current page, the memory block that collects arriving messages.
    func add(
        _ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan, _ ticket: AcknowledgementTicket?
    ) {
        if ticket != nil { finishRun() }
        if !state.pointee.lastTopicIsOnPage {
            state.pointee.page.use(topic: state.pointee.lastTopicString)
            state.pointee.lastTopicIsOnPage = true
            state.pointee.byteCount += state.pointee.lastTopicByteCount
        }
        let index = state.pointee.page.append(payload, marks, properties)
        let byteCount = payload.byteCount + properties.byteCount
        state.pointee.run.append(index, byteCount: byteCount, isDisposable: marks.qos == .zero)
        state.pointee.byteCount += byteCount + MemoryLayout<MessagePage.Entry>.stride
        guard ticket != nil else { return }
        state.pointee.byteCount += MessageSlice.ticketByteCount
        finishRun(ticket)
    }

    /// Adds a message that has a page (memory block) of its own to the element of `shares` for each reader of its
    /// topic.
    func add(_ page: MessagePage, _ ticket: AcknowledgementTicket?) {
        finishPage()
        for id in state.pointee.lastReaders {
            touch(id)
            let message = ReceivedMessage(
                page: page, index: 0, arrival: state.pointee.lastSerial, ticket: self.ticket(ticket, for: id))
            state.pointee.shares[id].append(MessageSlice(message))
        }
        state.pointee.byteCount += page.byteCount
    }

    /// Adds the messages in `run`, which have the same topic, to the element of `shares` for each reader of the topic.
    func finishRun(_ ticket: AcknowledgementTicket? = nil) {
        let run = state.pointee.run
        guard !run.indexes.isEmpty else { return }
        state.pointee.run = MessageRun()
        for id in state.pointee.lastReaders {
            touch(id)
            state.pointee.shares[id].append(run, ticket: self.ticket(ticket, for: id))
        }
    }

    func touch(_ id: ReaderID) {
        guard !state.pointee.shares[id].isTouched else { return }
        state.pointee.shares[id].isTouched = true
        state.pointee.touched.append(id)
    }

    /// Returns `ticket` if the reader acknowledges messages after it has processed them. Returns `nil` if the reader
    /// acknowledges messages on receipt.
    func ticket(_ ticket: AcknowledgementTicket?, for id: ReaderID) -> AcknowledgementTicket? {
        ticket != nil && state.pointee.readers[id]?.mode == .afterProcessing ? ticket : nil
    }

    func single(_ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan) -> MessagePage {
        MessagePage(
            payload.withUnsafeBytes { Data($0) }, topic: state.pointee.lastTopicString, qos: marks.qos,
            packetID: marks.packetID, isRetained: marks.isRetained, isDuplicate: marks.isDuplicate,
            isShared: marks.isShared, encodedProperties: properties.withUnsafeBytes { [UInt8]($0) },
            decode: MessageProperties.decode)
    }

    /// Finishes the page of arrived messages. For each reader, makes a slice of the reader's messages on the page.
    func finishPage() {
        guard !state.pointee.page.isEmpty else { return }
        finishRun()
        let page = state.pointee.page.finish()
        state.pointee.lastTopicIsOnPage = false
        let serial = state.pointee.lastSerial
        for id in state.pointee.touched { state.pointee.shares[id].finish(page, arrival: serial) }
    }

    /// Moves the arrived messages from `shares` to the queues of the readers. A reader that still reads stored messages
    /// receives the arrived messages later.
    func handOver() {
        tellArrivals()
        finishPage()
        state.pointee.byteCount = 0
        var touched: [ReaderID] = []
        swap(&touched, &state.pointee.touched)
        for id in touched {
            state.pointee.shares[id].isTouched = false
            guard let reader = state.pointee.readers[id], reader.catchUp != nil else {
                pushShare(to: id)
                continue
            }
            if state.pointee.isOverrun {
                let buffer = reader.queue.buffer
                let isInBytes = state.pointee.shares[id].finishedByteCount < buffer.byteLimit
                if !isInBytes || state.pointee.shares[id].finishedCount >= buffer.limit {
                    state.pointee.isOverfull = true
                    let before = state.pointee.shares[id].finishedCount
                    state.pointee.shares[id].dropNewest(beyond: isInBytes ? buffer.limit : 0)
                    let count = before - state.pointee.shares[id].finishedCount
                    if count > 0 { dropped(count, by: reader) }
                }
            }
            dependencies.setReadingPaused(true)  // Pause again, because reading is not paused on a new connection.
        }
        touched.removeAll(keepingCapacity: true)
        if state.pointee.touched.isEmpty { swap(&touched, &state.pointee.touched) }
    }

    func pushShare(to id: ReaderID) {
        var slices = state.pointee.shares[id].take()
        push(&slices, to: id)
        state.pointee.shares[id].reuse(&slices)
    }

    func push(_ batch: inout [MessageSlice], to id: ReaderID) {
        guard let reader = state.pointee.readers[id] else { return }
        let pushed = reader.queue.push(&batch, isOverrun: state.pointee.isOverrun)
        if pushed.isEnded {
            // The queue has ended, so put the messages back into `shares`. ``remove(_:_:)`` will then keep them for the
            // next reader.
            for message in batch.worthKeeping where pushed.isClosed || message.ticket != nil {
                state.pointee.shares[id].append(MessageSlice(message))
            }
            return batch.removeAll()
        }
        if pushed.dropped > 0 { dropped(pushed.dropped, by: reader) }
        if pushed.isFull { readerFilled(id, isOverfull: pushed.isOverfull) }
    }
}

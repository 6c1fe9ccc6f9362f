import CourierCore
import MQTTEngine

/// Pauses reading from the broker while a reader or the store is too slow.
extension MessageDistributor {
    /// Pauses reading from the broker, because the queue of a reader is full. `isOverfull` is true if the queue
    /// contains at least twice its limit.
    func readerFilled(_ id: ReaderID, isOverfull: Bool) {
        if isOverfull { state.pointee.isOverfull = true }
        if state.pointee.readers[id]?.isBehind == true { return dependencies.setReadingPaused(true) }
        state.pointee.readers[id]?.isBehind = true
        fellBehind()
    }

    /// Adds a reason to pause reading from the broker, and pauses reading. Does so even if there already was another
    /// reason: the client may have connected again since then, and a new connection begins without a pause.
    func fellBehind() {
        state.pointee.behindCount += 1
        dependencies.setReadingPaused(true)
    }

    /// If `isCongested` is `true`, pauses reading from the broker, because too many bytes wait to be stored. If
    /// `isCongested` is `false`, removes this reason for the pause.
    func storeCongested(_ isCongested: Bool) {
        defer { state.pointee.isStoreCongested = isCongested }
        guard isCongested else { return caughtUp() }
        // Pause at each report of congestion, because a new connection begins without a pause.
        if state.pointee.isStoreCongested { dependencies.setReadingPaused(true) } else { fellBehind() }
    }

    func caughtUp() {
        state.pointee.behindCount -= 1
        guard state.pointee.behindCount == 0 else { return }
        endOverrun()
        dependencies.setReadingPaused(false)
    }

    func endOverrun() {
        state.pointee.isOverfull = false
        guard state.pointee.isOverrun else { return }
        state.pointee.isOverrun = false
        setAcknowledgements()
        var withheld: [IncomingMessage.Handle] = []
        swap(&withheld, &state.pointee.withheld)
        if !withheld.isEmpty { dependencies.acknowledge(withheld) }
        var tickets: [AcknowledgementTicket] = []
        swap(&tickets, &state.pointee.withheldTickets)
        for ticket in tickets { AcknowledgementPart(ticket).acknowledge() }
    }

    var isWithholding: Bool { state.pointee.isOverrun && state.pointee.isOverfull }

    func setAcknowledgements() {
        dependencies.setAcknowledgesOnCommand(state.pointee.afterProcessingCount > 0 || state.pointee.isOverrun)
    }
}

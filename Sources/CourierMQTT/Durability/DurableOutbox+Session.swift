import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// The session: what an earlier process left of it, how far its messages have come, and its end.
extension DurableOutbox {
    /// Takes over what an earlier process left, and opens.
    ///
    /// - Returns: What the session is to go on with.
    func begin(_ session: StoredSession, _ scope: StoreScope) -> [ClientEngine.UnfinishedMessage] {
        loop.preconditionOnLoop()
        self.scope = scope
        lastOfEarlierProcess = session.lastID
        lastID = max(lastID, session.lastID)
        let (now, date) = (loop.now, Date())
        let unfinished = session.unfinished.compactMap { row -> ClientEngine.UnfinishedMessage? in
            guard let id = row.progress.packetID.flatMap({ PacketID(rawValue: $0) }) else { return nil }
            // A message that the broker has needs only PUBREL, which carries no text.
            if case .sent = row.progress, let error = refusal(of: row.message) {
                ends.began(row.message.topic, row.message.qos, row.message.payload.count)
                reject(row.message, error)
                restored.insert(row.message.id)  // A page that is read before the row is gone must not end it again.
                return nil
            }
            let entry = PublishLedger.Entry(
                recipient: .nobody, topic: row.message.topic, qos: row.message.qos,
                payload: ends.isListenedTo ? row.message.payload : nil)
            let token = ledger.enter(entry)
            live[token] = Live(id: row.message.id, qos: row.message.qos, packetID: id)
            restored.insert(row.message.id)
            ends.began(row.message.topic, row.message.qos, row.message.payload.count)
            if case .received = row.progress { return .received(token, id) }
            return .sent(row.message.outgoing(token, now: now, date: date), id)
        }
        isSpilled = session.hasQueued
        for id in session.requeued { steps.add(.progress(id, .queued)) }
        storeArrivals()
        readMore()
        return unfinished
    }

    /// The next id of a row.
    func nextID() -> StoredMessage.ID {
        lastID += 1
        return StoredMessage.ID(rawValue: lastID)
    }

    /// A message was given a packet id.
    func sent(_ token: Token, _ id: PacketID, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let message = live[token] else { return stored() }
        live[token]?.packetID = id
        guard storesPacketIDs else { return stored() }
        let progress = StoreChange.progress(message.id, .sent(packetID: id.rawValue))
        if message.qos == .two { steps.add(progress, stored: stored) } else { steps.addRepeatable(progress) }
    }

    /// The broker has a message of QoS 2.
    func receivedByServer(_ token: Token, stored: @escaping (PacketID) -> Void) {
        loop.preconditionOnLoop()
        guard let message = live[token], let id = message.packetID else { return }
        guard storesPacketIDs else { return stored(id) }
        steps.add(.progress(message.id, .received(packetID: id.rawValue))) { stored(id) }
    }

    /// A message of QoS 2 that the broker may have was given up: its packet id is free once nothing will send it again.
    func gaveUp(_ token: Token, stored: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard let message = live.removeValue(forKey: token) else { return stored() }
        guard storesPacketIDs else {
            steps.add(.removeOutgoing(message.id))
            return stored()
        }
        steps.add(.removeOutgoing(message.id), stored: stored)
    }

    /// A message has ended, whichever way; from any thread.
    func ended(_ token: Token) {
        guard loop.isOnLoop else { return loop.execute { [self] in ended(token) } }
        guard let message = live.removeValue(forKey: token) else { return }
        if message.packetID != nil, storesPacketIDs {
            steps.addRepeatable(.removeOutgoing(message.id))
        } else {
            // It was never sent, or is to be sent anew: a power cut that forgot its end would not repeat it, but send it.
            steps.add(.removeOutgoing(message.id))
        }
    }

    /// The broker has lost the session: packet ids mean nothing any more.
    func sessionLost() {
        loop.preconditionOnLoop()
        for (token, message) in live where message.packetID != nil {
            live[token]?.packetID = nil
            steps.add(.progress(message.id, .queued))
        }
    }

    /// What is under way goes on in this process only: the packet ids mean nothing to the next one.
    func forgetStoredPacketIDs() {
        loop.preconditionOnLoop()
        for message in live.values where message.packetID != nil { steps.add(.progress(message.id, .queued)) }
    }

    /// The session is given up: nothing of it goes on. What comes from now on waits for ``begin(_:_:)``.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        scope = nil
        session += 1
        for token in live.keys { ends.end(token, with: .abandoned(error)) }
        live = [:]
        isSpilled = false
        // The ids of another scope may be lower.
        (lastHandedOver, lastStored, lastTold) = (nil, nil, nil)
        firstOnDisk = nil
        restored = []
        latest = [:]
        replaced = []
        stopReading()
        endWaiting(error)
        watchArrivals()  // Those of the next session.
    }

    /// The client has ended; what is stored stays.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        end = error
        stopReading()
        cancelGatheringTimer()
        endWaiting(error)
        refuse(arrivals.finish(error), error)
    }

    func stopReading() {
        reading?.cancel()
        reading = nil
        removedWhileReading = []
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
    }

    func endWaiting(_ error: CourierError) {
        let waiting = recipients
        recipients = [:]
        for (_, recipient) in waiting {
            let entry = PublishLedger.Entry(recipient: recipient, topic: "", qos: .one, payload: nil)
            ends.end(ledger.enter(entry), with: .abandoned(error))
        }
    }
}

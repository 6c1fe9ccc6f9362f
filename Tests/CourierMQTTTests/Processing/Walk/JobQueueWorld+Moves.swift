import CourierCore
import Foundation
import MQTTEngine
import TestSupport

@testable import CourierMQTT

/// The moves of the broker, the handlers, the store and the user.
extension JobQueueWorld {
    private static let ticket = AcknowledgementTicket(.kept(until: nil), readers: 1) { _ in }
    private static let receiveMaximum = 12

    // MARK: Broker

    mutating func publish() {
        let number = messages.count
        let message = JobWalkMessage(
            number: number, topic: "orders/\(random.below(3))", customer: "customer \(random.below(4))",
            key: "key \(random.chance(1, in: 3) ? random.below(number + 1) : number)",
            isDecodable: !random.chance(1, in: 12))
        messages.append(message)
        unsent.append(message)
    }

    /// Gives the next message to the queue, if the queue has room.
    mutating func deliver() {
        if let received = handedBack.first {
            guard queue.hasRoom else { return }
            handedBack.removeFirst()
            return arrive(received)
        }
        while unacknowledged.count < Self.receiveMaximum, !unsent.isEmpty {
            let message = unsent.removeFirst()
            var packetID: UInt16 = 1
            while unacknowledged.contains(where: { $0.packetID == packetID }) { packetID += 1 }
            unacknowledged.append((packetID, message))
            arriving.append(
                Delivery(message: message, packetID: packetID, connection: connection, isDuplicate: false))
        }
        guard !arriving.isEmpty, queue.hasRoom else { return }
        let delivery = arriving.removeFirst()
        deliveries.append(delivery)
        let page = MessagePage(
            conditions.payload(of: delivery.message), topic: delivery.message.topic, qos: .one,
            packetID: delivery.packetID, isRetained: false, isDuplicate: delivery.isDuplicate,
            properties: MessageProperties())
        arrive(ReceivedMessage(page: page, index: 0, arrival: deliveries.count - 1, ticket: Self.ticket))
    }

    private mutating func arrive(_ received: ReceivedMessage) {
        let message = deliveries[received.arrival].message
        var (orderKey, key, problem): (String?, String?, (any Error)?)
        do {
            (orderKey, key) = try conditions.keys(of: message)
        } catch {
            problem = error
        }
        let isLost = mistake == .losesOrder && message.number.isMultiple(of: 3)
        let last = queue.lastID
        queue.arrived(
            JobQueue.Job(received, isLost ? nil : orderKey, key, receivedAt: time), problem: problem, now: now,
            time: time)
        guard queue.lastID > last else { return perform() }
        guard let job = queue.jobs[queue.lastID] else { return parkedAtOnce(received, message) }
        let copy = key.map { model.isRemembered($0, now) } ?? false
        require(!copy, "message \(message.number) is accepted, but its key was handled")
        let isRepeated = !conditions.settings.isStored && doneInProcess.contains(message.number)
        require(!isRepeated, "message \(message.number) is accepted again after it was handled or parked")
        let stage = conditions.settings.isStored ? JobQueue.Stage.storing : .ready
        model.jobs.append(
            JobQueueModel.Job(
                id: queue.lastID, message: message, orderKey: orderKey, key: key, byteCount: job.byteCount,
                stage: stage))
        if problem != nil { model.park(model.jobs.count - 1) }
        settleParking()
        perform()
    }

    /// Records a message that was parked when it arrived, because no adapter can decode it.
    private mutating func parkedAtOnce(_ received: ReceivedMessage, _ message: JobWalkMessage) {
        let isRepeated = doneInProcess.contains(message.number)
        require(!isRepeated, "message \(message.number) is parked again")
        model.jobs.append(
            JobQueueModel.Job(
                id: queue.lastID, message: message, orderKey: nil, key: nil,
                byteCount: received.page.byteCount + JobQueue.jobByteCount, stage: .parking))
        model.park(model.jobs.count - 1)
        settleParking()
        perform()
    }

    /// Parks messages in the model, and records the end of each parked message.
    mutating func settleParking() {
        model.settleParking(now)
        noteParked()
    }

    mutating func noteParked() {
        guard !conditions.settings.isStored else { return }
        for parked in model.parked {
            doneInProcess.insert(parked.message.number)
            ended.insert(parked.message.number)
        }
    }

    mutating func loseConnection() {
        connection += 1
        handedBack = []
        arriving = unacknowledged.map {
            Delivery(
                message: $0.message, packetID: $0.packetID, connection: connection,
                isDuplicate: mistake != .losesDuplicateFlag)
        }
    }

    // MARK: Time

    mutating func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while violation == nil, let wake = queue.nextWake, wake <= end {
            now = max(now, wake)
            perform()
        }
        now = end
    }

    // MARK: Handlers

    /// Ends a handler. `outcome` is `nil` for a random outcome.
    mutating func finish(_ index: Int, _ outcome: JobQueue.Outcome? = nil) {
        let handler = handlers.remove(at: index)
        let isCancelled = model.index(handler.id).map { model.jobs[$0].isCancelled } ?? false
        let outcome = handler.message.isDecodable ? outcome ?? randomOutcome(isCancelled) : .undecodable(Undecodable())
        let number = random.chance(1, in: 10) ? 1 : Double.random(in: 0...1, using: &random)
        let (now, time) = (now, time)
        queue.finished(handler.id, outcome, now: now, time: time, random: number)
        if handler.isOrphan {
            model.orphanCount -= 1
            return perform()
        }
        if case .handled = outcome { handled(handler.message) }
        let pause = queue.steps.lazy.compactMap { step -> Duration? in
            guard case .tell(.messageProcessingFailure(_, _, _, let pause)) = step else { return nil }
            return pause
        }.first
        let expected = expectedPause(handler.id, outcome, number)
        let isExact = expected == nil ? pause == nil : pause.map { abs($0 / .seconds(1) - (expected ?? 0)) < 1e-6 }
        require(
            isExact ?? false, "the pause is \(String(describing: pause)) instead of \(String(describing: expected))")
        model.finished(handler.id, outcome, pause, now)
        noteParked()
        perform()
    }

    private struct Undecodable: Error {}
    private struct Failure: Error {}

    private mutating func randomOutcome(_ isCancelled: Bool) -> JobQueue.Outcome {
        if isCancelled, random.chance(3, in: 4) {
            return .failed(CourierError(.timedOut, "The handler was cancelled."))
        }
        switch random.below(20) {
        case 0..<10: return .handled
        case 10..<16: return .failed(Failure())
        case 16, 17: return .failed(Retry(after: .milliseconds(random.below(30_000))))
        default: return .failed(Park(reason: "The order has no items."))
        }
    }

    private mutating func handled(_ message: JobWalkMessage) {
        let isRepeated = !conditions.settings.isStored && doneInProcess.contains(message.number)
        require(!isRepeated, "message \(message.number) is handled twice")
        handled.insert(message.number)
        doneInProcess.insert(message.number)
    }

    /// The pause in seconds that must follow an attempt; `nil` if no pause follows.
    private func expectedPause(_ id: JobID, _ outcome: JobQueue.Outcome, _ random: Double) -> Double? {
        guard case .failed(let error) = outcome, let index = model.index(id), !(error is Park) else { return nil }
        if let retry = error as? Retry { return retry.pause / .seconds(1) }
        let schedule = conditions.settings.retries
        let attempts = model.jobs[index].attempts + 1
        guard attempts < schedule.maximumAttempts else { return nil }
        let growth = (1..<attempts).reduce(schedule.first / .seconds(1)) { pause, _ in pause * schedule.factor }
        return min(growth, schedule.maximum / .seconds(1)) * (1 - schedule.jitter * random)
    }

    // MARK: Parked messages

    /// Retries or removes a parked message, as a user does.
    mutating func changeParked(isRetried: Bool) {
        guard let entry = model.parked.randomElement(using: &random),
            let index = model.parked.firstIndex(where: { $0.row == entry.row })
        else { return }
        let stored = disk.first { $0.message.id == entry.row && $0.state.isParked }
        // A client finds a parked message only if its state is written.
        guard stored != nil || !conditions.settings.isStored else { return }
        model.parked.remove(at: index)
        guard isRetried else {
            let isRemoved = queue.removeParked(entry.row, now: now, time: time)
            require(isRemoved, "a parked message is not removed")
            ended.insert(entry.message.number)
            settleParking()
            return perform()
        }
        let keys = try? conditions.keys(of: entry.message)
        // A parked message whose copy was handled or waits is only removed.
        let isCopy =
            conditions.settings.keys != nil && entry.message.isDecodable
            && (model.isRemembered(entry.message.key, now) || model.jobs.contains { $0.key == entry.message.key })
        let isDone = queue.retryParked(entry.row, stored.map { ($0, keys?.order) }, now: now, time: time)
        require(isDone, "a parked message is not retried")
        if isCopy {
            ended.insert(entry.message.number)
            settleParking()
            return perform()
        }
        doneInProcess.remove(entry.message.number)
        if let job = queue.jobs[queue.lastID] {
            model.jobs.append(
                JobQueueModel.Job(
                    id: queue.lastID, message: entry.message, orderKey: keys?.order, key: job.deduplicationKey,
                    byteCount: job.byteCount, row: job.row, stage: .ready))
        }
        settleParking()
        perform()
    }
}

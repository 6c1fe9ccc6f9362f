import CourierCore
import Dispatch

/// Sends the messages of the run, and counts messages that arrive or are acknowledged. Runs on the queue.
extension BenchRun {
    /// If no message arrives for this time, the messages that are still missing count as lost.
    private static let silenceLimit = Duration.seconds(10)
    /// The interval at which a run with a fixed rate sends the messages that are due.
    private static let pace = DispatchTimeInterval.milliseconds(2)
    /// The interval at which a run without subscribers at QoS 0 checks whether all messages were sent.
    private static let drainPace = DispatchTimeInterval.milliseconds(2)
    /// The maximum number of messages that one call of `send()` sends, so that other blocks of the queue can run.
    private static let messagesPerTurn = 1_000

    // MARK: Sending

    func beginSending() {
        if progress.goal == .arrival, progress.isAcknowledged {
            // One closure for all messages of a publisher saves an allocation for each message.
            for publisher in publishers { publisher.answered = answerReceiver(sentAt: 0, publisher: publisher.index) }
        }
        if settings.rate != nil { every(Self.pace) { $0.send() } }
        send()
    }

    private func answerReceiver(
        sentAt: UInt64, publisher: Int
    ) -> @Sendable (Result<PublishReceipt, CourierError>) -> Void {
        { [weak self] in self?.answered($0, sentAt: sentAt, publisher: publisher) }
    }

    /// Sends the messages that are due, until the window is full.
    func send() {
        guard phase == .running, !isSendPlanned else { return }
        let due = pacer.due(after: BenchClock.now - begunAt)
        var left = Self.messagesPerTurn
        while progress.sentCount < due, progress.hasRoom {
            guard left > 0 else { return planSend() }
            left -= 1
            if turn >= publishers.count { turn = 0 }
            // No publisher can send now. Either the last publisher was lost, which ends the run, or the queue of every
            // publisher is full.
            guard turn < publishers.count else { return }
            let publisher = publishers[turn]
            guard publisher.phase == .ready else {
                leaveTurn()
                continue
            }
            do {
                try publish(by: publisher)
            } catch let error as CourierError where error.code == .queueFull {
                leaveTurn()
                awaitRoom(in: publisher)
                continue
            } catch let error as CourierError where error.code == .connectionLost {
                // The lost connection is not counted here, because the client also changes its connection status. The
                // handler of the status counts the loss or ends the run.
                leaveTurn()
                continue
            } catch {
                console.tell("Error: \((error as? CourierError)?.message ?? "\(error)")")
                return finish(ExitCode.failure)
            }
            turn += 1
        }
        if progress.sentCount == pacer.count { stopSending() }
    }

    private func publish(by publisher: BenchClient) throws {
        let now = BenchClock.now
        let answered =
            progress.goal == .acknowledgement
            ? answerReceiver(sentAt: now, publisher: publisher.index) : publisher.answered
        try publisher.client.publish(
            bytes: payload.bytes(sentAt: now, number: progress.sentCount), to: plan.topics[publisher.index],
            qos: settings.connection.level, retain: false, properties: MessageProperties(), completion: answered)
        progress.sent(by: publisher.index)
        guard progress.goal == .sending else { return }
        lastSign = now
        timeline.add(after: .nanoseconds(Int64(now - begunAt)))
    }

    /// Calls `send()` in a later block, so that other blocks of the queue can run first.
    private func planSend() {
        isSendPlanned = true
        queue.async { [weak self] in
            guard let self else { return }
            isSendPlanned = false
            send()
        }
    }

    /// Removes the publisher whose turn it is. The last publisher in the list takes its place, so the removal takes the
    /// same time for any number of publishers.
    private func leaveTurn() {
        publishers.swapAt(turn, publishers.count - 1)
        publishers.removeLast()
    }

    /// Waits until the client accepts more messages, and then adds the publisher again. Meanwhile, the other publishers
    /// send. The client may refuse messages before the window is full, because the window can be larger than the queue
    /// limit of the client.
    private func awaitRoom(in publisher: BenchClient) {
        roomWaits[publisher.index] = Task { [self] in
            try? await publisher.client.readyToPublish()  // Throws if the task is cancelled.
            queue.async { [self] in
                roomWaits[publisher.index] = nil
                publishers.append(publisher)
                send()
            }
        }
    }

    /// Stops the sending of messages. The run ends when every sent message has reached the measured event, such as its
    /// arrival.
    func stopSending() {
        guard phase == .running else { return }
        phase = .draining
        guard progress.goal == .sending else { return finishIfComplete() }
        every(Self.drainPace) { $0.finishIfWritten() }
        finishIfWritten()
    }

    /// Ends a run without subscribers at QoS 0 when the clients have sent all messages.
    private func finishIfWritten() {
        guard phase == .draining else { return }
        let isWritten = pool?.ready(.publisher).allSatisfy { $0.client.metrics.waitingCount == 0 } ?? true
        guard isWritten || BenchClock.elapsed(since: lastSign) > Self.silenceLimit else { return }
        if isWritten { lastSign = BenchClock.now }
        finish(isWritten ? ExitCode.success : ExitCode.failure)
    }

    private func finishIfComplete() {
        if phase == .draining, progress.isComplete { finish(ExitCode.success) }
    }

    // MARK: Arrivals and acknowledgements

    func received(_ message: Message) {
        guard phase == .running || phase == .draining, !message.isRetained,
            let sentAt = payload.sentAt(in: message.payload)
        else { return }
        let now = BenchClock.now
        // A small text or JSON payload has no room for the number of its run, so a message of another run may arrive
        // here. If the send time of a message is in the future, the message is ignored.
        guard sentAt <= now else { return }
        progress.arrived()
        count(now - sentAt, at: now)
        advance()
    }

    private func answered(_ result: Result<PublishReceipt, CourierError>, sentAt: UInt64, publisher: Int) {
        guard phase == .running || phase == .draining else { return }
        lastSign = BenchClock.now
        switch result {
        case .success:
            progress.acknowledged(from: publisher)
            if progress.goal == .acknowledgement { count(lastSign - sentAt, at: lastSign) }
        case .failure(let error):
            progress.refused(from: publisher)
            messageProblem = messageProblem ?? .refusal(error.message)
        }
        advance()
    }

    /// Counts a message that has reached the measured event, such as its arrival.
    private func count(_ nanoseconds: UInt64, at now: UInt64) {
        histogram.add(nanoseconds)
        if hasLiveLine { liveLine.add(nanoseconds) }
        (lastArrival, lastSign) = (now, now)
        timeline.add(after: .nanoseconds(Int64(now - begunAt)))
    }

    /// Sends the next messages only when half of the window is free, so that one TCP packet contains several messages.
    private func advance() {
        if phase == .draining { return finishIfComplete() }
        if settings.rate == nil, progress.isHalfFree { send() }
    }

    // MARK: Each second

    /// Ends the run if no message has arrived for a long time.
    ///
    /// - Returns: Whether the run continues.
    func continuesAfterSecond() -> Bool {
        if hasFewerSubscribers {
            hasFewerSubscribers = false
            progress.change(copies: plan.copies(for: readySubscribers))
        }
        if progress.goal != .sending, BenchClock.elapsed(since: lastSign) > Self.silenceLimit, !progress.isComplete {
            if progress.missingCount > 0 {
                console.tell(
                    "Error: No message has arrived for 10 seconds; \(progress.missingCount) messages are lost.")
            } else {
                console.tell(
                    "Error: No acknowledgement has arrived for 10 seconds; "
                        + "\(progress.unansweredCount) messages are not acknowledged.")
            }
            finish(pool?.figures.firstProblem?.exitCode ?? ExitCode.failure)
            return false
        }
        // An arriving message calls `send()`. If all messages of the window are lost, no message arrives, so `send()`
        // is also called here, once per second.
        send()
        return phase != .closing
    }
}

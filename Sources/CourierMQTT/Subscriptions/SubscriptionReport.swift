import CourierCore

/// Reports the results of one packet as events. Also reports filters that the client refused before it sent a packet.
/// Failures with the same reason form one group.
struct SubscriptionReport: Sendable {
    typealias Action = SubscriptionAction

    private let timeTaken: Duration
    private var granted: [Action.Subscription] = []
    private var removed: [TopicFilter] = []
    private var failures: [(failure: Action.Failure, subscriptions: [Action.Subscription], filters: [TopicFilter])] = []

    init(timeTaken: Duration) { self.timeTaken = timeTaken }

    /// Adds an entry whose request the broker has granted.
    mutating func succeeded(_ entry: SubscriptionEntry) {
        if case .subscribed(_, let qos) = entry.confirmed {
            granted.append(Action.Subscription(entry.filter, qos))
        } else {
            removed.append(entry.filter)
        }
    }

    mutating func failed(_ entry: SubscriptionEntry, _ request: SubscriptionEntry.Request, _ failure: Action.Failure) {
        let index: Int
        if let present = failures.firstIndex(where: { $0.failure == failure }) {
            index = present
        } else {
            index = failures.count
            failures.append((failure, [], []))
        }
        switch request {
        case .subscribe(let qos): failures[index].subscriptions.append(Action.Subscription(entry.filter, qos))
        case .unsubscribe: failures[index].filters.append(entry.filter)
        }
    }

    func append(to actions: inout [Action]) {
        if !granted.isEmpty { actions.append(.subscribeSucceeded(granted, timeTaken: timeTaken)) }
        if !removed.isEmpty { actions.append(.unsubscribeSucceeded(removed, timeTaken: timeTaken)) }
        for (failure, subscriptions, filters) in failures {
            if !subscriptions.isEmpty {
                actions.append(.subscribeFailed(subscriptions, failure, timeTaken: timeTaken))
            }
            if !filters.isEmpty { actions.append(.unsubscribeFailed(filters, failure, timeTaken: timeTaken)) }
        }
    }
}

import CourierCore

/// Readers that subscribe.
extension ClientCoordinator {
    /// A loop has started: it reads, and its filter is wanted. On the loop.
    func opened(_ reader: ReaderRegistration, _ request: SubscriptionRequest) {
        subscriptions.open(reader, request, identity: publishing.identity)
        subscriptionsChanged()
    }

    /// It was left. On the loop.
    func closed(_ reader: ReaderRegistration, _ left: [ReceivedMessage]) {
        reader.close(left)
        subscriptions.close(reader)
        subscriptionsChanged()
    }

    func subscriptionsChanged() {
        subscriptions.perform()
        tell(.topicsChanged(areWanted: subscriptions.hasTopics))
    }
}

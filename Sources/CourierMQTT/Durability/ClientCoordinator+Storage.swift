import CourierCore
import CourierTransport
import Foundation

/// Restores the session from the message store, and determines the scope of its rows: a client id and a broker.
extension ClientCoordinator {
    /// Restores the subscriptions of an earlier process, and lets readers read the stored messages of that process.
    /// Called after the store was opened.
    func storeOpened(_ session: StoredSession) {
        subscriptions.restore(session.subscriptions)
        subscriptionsChanged()
        distributor.rowsAppeared()
    }

    /// Reports a stored message that the client does not send, because its topic or its properties are not allowed.
    func rejected(_ stored: StoredMessage, _ error: CourierError) {
        settings.log.log(.error, source: "store", clientID: info?.clientId, error.message)
        let message = Message(
            data: Data(stored.payload), topic: stored.topic, qos: stored.qos, isRetained: stored.isRetained,
            properties: stored.properties)
        tell(.messageRejected(message: message, error: error))
    }

    /// Returns the scope of the rows of a client with these options. The scope contains the broker that the provider
    /// named, even if the client is connected to another node of a cluster.
    func scope(of options: ConnectOptions) -> StoreScope { StoreScope(supervisor.grant?.options ?? options) }

    /// Warns if the next process would not find the messages that this process stores. `template` is the client id that
    /// the provider returned, before random characters replaced its placeholders.
    func warnOfScope(_ options: ConnectOptions, template: String) {
        guard let durable, durable.knownScope == nil else { return }
        if !durable.isOpen, options.clientId != template {
            warn(
                "The client id \(template.quoted()) is a template, and there is a messageStore: the next process has "
                    + "another id, so what this one leaves in the store stays there and is never sent; give a client id "
                    + "without %, or set session.storeScope.", options)
        } else if let scope = durable.keepsRowsElsewhere(than: StoreScope(options)) {
            warn(
                "The provider names \(words(StoreScope(options))) now, and the messages stay stored as those of "
                    + "\(words(scope)): the next process finds them only if its provider names that first; set "
                    + "session.storeScope.", options)
        }
    }

    private func words(_ scope: StoreScope) -> String { "\(scope.clientID.quoted()) at \(scope.broker.shownHost)" }

    private func warn(_ text: String, _ options: ConnectOptions) {
        settings.log.log(.warning, source: "configuration", clientID: options.clientId, text)
    }
}

import CourierCore
import CourierTransport
import Foundation

/// The rows of the session: whose they are, and what an earlier process has left.
extension ClientCoordinator {
    /// The rows of an earlier process are loaded, and messages can be stored.
    func storeOpened(_ session: StoredSession) {
        subscriptions.restore(session.subscriptions)
        subscriptionsChanged()
        distributor.rowsAppeared()
    }

    /// Reports a stored message that the client gave up because no broker may take its texts.
    func rejected(_ stored: StoredMessage, _ error: CourierError) {
        settings.log.log(.error, source: "store", clientID: info?.clientId, error.message)
        let message = Message(
            data: Data(stored.payload), topic: stored.topic, qos: stored.qos, isRetained: stored.isRetained,
            properties: stored.properties)
        tell(.messageRejected(message: message, error: error))
    }

    /// Whose rows those of a client with these options are: whichever node of a cluster it is, they belong to the broker
    /// that the provider has named.
    func scope(of options: ConnectOptions) -> StoreScope { StoreScope(supervisor.grant?.options ?? options) }

    /// Warns if the next process will not look for messages where this one keeps them. `template` is what the client id
    /// was made of.
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

import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Restores the session from the message store, and determines the scope of the session's rows: a client id and a
/// broker.
extension ClientCoordinator {
    /// Restores the subscriptions of an earlier process, and lets readers read the stored messages of that process.
    /// Called after the store was opened.
    func storeOpened(_ session: StoredSession) {
        subscriptions.restore(session.subscriptions)
        subscriptionsChanged()
        distributor.rowsAppeared()
        if let scope = durable?.scope { processors.storeOpened(scope) }
        answerStoreWaiters()
    }

    // MARK: Callers that need the number of stored messages

    /// Waits until the outgoing queue counts the stored messages of an earlier process. Waits only while the store is
    /// being read, or while a running attempt to connect will read it.
    ///
    /// - Throws: The error of the last read of the store, or `CancellationError`.
    func waitForStoredCount(_ waiterCount: WaiterCount) async throws {
        guard let durable else { return }
        let waiter = Waiter<Void>(waiterCount)
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            storeWaiters.add({ waiter.resume($0.mapError { $0 }) }, under: key)
            durable.whenRead { [self] in answerStoreWaiters() }
        }
        try await waiter.value { [self] in loop.execute { [self] in storeWaiters.remove(key) } }
    }

    /// Resumes the callers of ``waitForStoredCount(_:)``, unless the client is opening its store.
    func answerStoreWaiters() {
        guard let durable, !isOpeningStore(durable) else { return }
        storeWaiters.callAll(durable.readFailure.map { .failure($0) } ?? .success(()))
    }

    /// True while the store is being read, or while a running attempt to connect will read it.
    private func isOpeningStore(_ durable: DurableSession) -> Bool {
        if durable.isOpen { return false }
        if durable.isReading { return true }
        if durable.knownScope != nil { return false }
        return switch supervisor.phase {
        case .authenticating, .locating, .opening: true
        case .resting, .paused, .waiting, .connected, .closing: false
        }
    }

    // MARK: Reports

    /// Reports a stored message that the client does not send, because its topic or its properties are not allowed.
    func rejected(_ stored: StoredMessage, _ error: CourierError) {
        settings.log.log(.error, source: "store", clientID: info?.clientId, error.message)
        tell(.messageRejected(message: Message(stored), error: error))
    }

    /// Returns the scope of the rows of a client with these options. The scope contains the broker that the provider
    /// named, even if the client is connected to another node of a cluster.
    func scope(of options: ConnectOptions) -> StoreScope { StoreScope(supervisor.grant?.options ?? options) }

    /// Logs a warning if the next process would not find the messages that this process stores. `template` is the
    /// client id that the provider returned, before random characters replaced each `%`.
    func warnOfScope(_ options: ConnectOptions, template: String) {
        guard let durable, durable.knownScope == nil else { return }
        if !durable.isOpen, options.clientId != template {
            warn(
                "The client id \(template.quoted()) is a template, and a messageStore is set. "
                    + "The next process has another client id, "
                    + "so the messages that this process leaves in the store are never sent. "
                    + "Use a client id without %, or set session.storeScope.", options)
        } else if let scope = durable.keepsRowsElsewhere(than: StoreScope(options)) {
            warn(
                "The auth provider names the client \(words(StoreScope(options))), "
                    + "but the messages are stored for the client \(words(scope)). "
                    + "The next process finds the messages only if its auth provider first names \(words(scope)). "
                    + "Set session.storeScope.", options)
        }
    }

    private func words(_ scope: StoreScope) -> String { "\(scope.clientID.quoted()) at \(scope.broker.shownHost)" }

    private func warn(_ text: String, _ options: ConnectOptions) {
        settings.log.log(.warning, source: "configuration", clientID: options.clientId, text)
    }
}

import CourierCore
import CourierSQLite
import Foundation

/// The message store that a client opens itself if `isMessagePersistenceEnabled` is `true`.
extension MQTTClientConfig {
    /// When the client opens its store, it logs a warning for each file of another client in which messages remain.
    /// This constant is the maximum number of these warnings, 10.
    private static let maximumLeftBehind = 10

    /// Returns the location of the files of the client's own store, and the client id of the stored messages. Returns
    /// `nil` if the app has not turned on persistence, or if the app has set a store.
    func storePlace() throws(CourierError) -> (place: StorePlace, clientID: String)? {
        guard isMessagePersistenceEnabled, messageStore == nil else { return nil }
        let clientID = providerClientID
        guard !clientID.isEmpty else {
            throw CourierError(
                .invalidConfiguration,
                "`isMessagePersistenceEnabled` needs a client id, so that the next process finds the messages. "
                    + "The auth provider's client id is empty. Give the client an id that stays the same.")
        }
        let variables = environmentVariables ?? ProcessInfo.processInfo.environment
        return (try StorePlace(program: session.storeName, environment: variables), clientID)
    }

    private var providerClientID: String {
        switch provider {
        case .closures(let provider): provider.clientId
        case .asynchronous(let provider): provider.clientID
        }
    }

    /// Opens the default store if the client needs it, and sets it as `messageStore`.
    ///
    /// - Returns: The store; `nil` if the client does not need it.
    /// - Throws: An error if there is no folder for the store, or if its file cannot be opened.
    mutating func openStore(log: any LogHandler) throws(CourierError) -> ClientStore? {
        guard let (place, clientID) = try storePlace() else { return nil }
        let store = try ClientStore(at: place.file(of: clientID), of: clientID) { recovery in
            log.log(.error, source: "store", clientID: clientID, recovery.error.message)
        }
        messageStore = store
        session.storeScope = session.storeScope ?? StoreScope(clientID: clientID, broker: StorePlace.broker)
        DispatchQueue.global(qos: .utility).async { Self.logLeftBehind(in: place, clientID, log) }
        return store
    }

    private static func logLeftBehind(in place: StorePlace, _ clientID: String, _ log: any LogHandler) {
        let files = place.relatives(of: clientID).lazy.compactMap { LeftBehind($0) }
        for left in files.prefix(maximumLeftBehind) {
            let names = left.clientIDs.map { $0.quoted() }.joined(separator: ", ")
            log.log(
                .warning, source: "store", clientID: clientID,
                "Messages of an earlier client remain in \(left.file.path). No program has this file open. "
                    + "Number of messages: \(left.messageCount). Client id: \(names). "
                    + "Perhaps the client id or the program's name has changed. "
                    + "To send the messages, run a client with the earlier client id and `session.storeName`. "
                    + "`courier store files` lists such files.")
        }
    }
}

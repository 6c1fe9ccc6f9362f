import CourierCore
import CourierMQTT

/// The filters of `-U`, which an earlier run may have subscribed to in the session that is continued.
///
/// A client asks the broker only for what it knows of, and it knows of earlier runs by its store: so the wish to be rid of
/// these filters is put there before the client begins. Without a session to continue there is nothing to be rid of, and
/// with a `%` in the client id there is none: it is another one for each run.
struct UnwantedTopics {
    private let filters: [TopicFilter]
    private let scope: StoreScope

    init(_ settings: SubscribeArguments) throws {
        let options = settings.connection.connectOptions
        let isNew = options.isCleanSession || options.clientId.contains("%")
        filters = isNew ? [] : try settings.unwantedTopics.map { try TopicFilter($0) }
        scope = StoreScope(options)
    }

    /// Lets the client of this configuration know.
    func remember(in config: inout MQTTClientConfig) {
        guard !filters.isEmpty else { return }
        let store = config.messageStore ?? MemoryMessageStore()
        store.commit(filters.map { .want(StoredSubscription($0, .unsubscribing)) }, in: scope) { _ in
            // A store that fails says so to the client, which ends with it.
        }
        config.messageStore = store
    }
}

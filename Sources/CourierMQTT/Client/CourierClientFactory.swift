public import CourierCore

/// Makes clients.
///
/// ```swift
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(authService: authService))
/// client.connect()
/// ```
public struct CourierClientFactory: Sendable {
    /// Makes a factory; all are alike.
    public init() {}

    /// Makes a client that connects when it is told to, and ends with its last reference.
    ///
    /// No connection is opened yet. With ``MQTTClientConfig/isMessagePersistenceEnabled`` and without a
    /// ``MQTTClientConfig/messageStore``, the file of the messages is opened, which takes milliseconds on this thread.
    ///
    /// With a mistake in the configuration, or without that file, the client can do nothing. Every call that can throw says why;
    /// so do the event of `connect()` and the log. ``validate(_:)`` tells the mistakes before.
    ///
    /// - Parameter config: The configuration.
    /// - Returns: The client.
    public func makeMQTTClient(config: MQTTClientConfig) -> any CourierClient {
        do throws(CourierError) {
            return MQTTClient(try ClientParts(config))
        } catch {
            return UnusableClient(error, deliveryQueue: config.deliveryQueue, log: config.logHandler)
        }
    }

    /// Looks for mistakes in a configuration: limits that contradict each other, illegal topics, negative times, fixed
    /// options (``MQTTClientConfig/init(options:)``) that no connection can be made with.
    ///
    /// What a provider of the app's own will hand out is checked when it does. Nothing is opened, and no file is read.
    ///
    /// - Parameter config: The configuration.
    /// - Throws: A ``CourierCore/CourierError`` with `invalidConfiguration` that names the option and the remedy.
    public func validate(_ config: MQTTClientConfig) throws {
        _ = try ClientSettings(config)
        _ = try SupervisorConfiguration(config)
        _ = try config.storePlace()
    }
}

public import CourierCore
import CourierTransport

/// Makes clients.
///
/// ```swift
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(authService: authService))
/// client.connect()
/// ```
public struct CourierClientFactory: Sendable {
    /// Makes a factory; all are alike.
    public init() {}

    /// Makes a client. It connects after `connect()`, and ends with its last reference.
    ///
    /// No connection is opened yet. With ``MQTTClientConfig/isMessagePersistenceEnabled`` and without a
    /// ``MQTTClientConfig/messageStore``, the file of the messages is opened, which takes milliseconds on this thread.
    ///
    /// If the configuration has a mistake, or the file cannot be opened, every call of the client that can throw throws the
    /// reason. The event of `connect()` and the log report it, too. ``validate(_:)`` finds mistakes before.
    ///
    /// - Parameter config: The configuration.
    /// - Returns: The client.
    public func makeMQTTClient(config: MQTTClientConfig) -> any CourierClient {
        do throws(CourierError) {
            return MQTTClient(try ClientParts(config))
        } catch {
            return MisconfiguredClient(error, deliveryQueue: config.deliveryQueue, log: config.logHandler)
        }
    }

    /// Looks for mistakes in a configuration: limits that contradict each other, illegal topics, negative times, fixed
    /// options (``MQTTClientConfig/init(options:)``) that no connection can be made with.
    ///
    /// The files of ``MQTTClientConfig/tls`` are read, which may take milliseconds; nothing is written, and no connection is
    /// opened. What a provider of the app's own or `tls.material` will hand out is checked when it does.
    ///
    /// - Parameter config: The configuration.
    /// - Throws: A ``CourierCore/CourierError`` with `invalidConfiguration` that names the option and the remedy.
    public func validate(_ config: MQTTClientConfig) throws {
        _ = try ClientSettings(config)
        _ = try SupervisorConfiguration(config)
        _ = try config.storePlace()
        if let tls = config.tls { try Self.check(tls) }
    }

    /// Reads the certificates and keys.
    private static func check(_ tls: TLSClientConfiguration) throws(CourierError) {
        var tls = tls
        tls.keyLogFile = nil  // It would be created.
        if tls.material != nil { (tls.material, tls.trust, tls.identity) = (nil, .systemRoots, nil) }
        do throws(TransportError) {
            _ = try TLSContext(client: tls)
        } catch {
            throw CourierError(error)
        }
    }
}

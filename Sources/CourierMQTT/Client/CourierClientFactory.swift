public import CourierCore
import CourierTransport

/// Makes clients.
///
/// ```swift
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(authService: authService))
/// client.connect()
/// ```
public struct CourierClientFactory: Sendable {
    /// Makes a factory. A factory has no settings.
    public init() {}

    /// Makes a client. The client connects after `connect()`, and ends when its last reference is released.
    ///
    /// This call opens no connection. If ``MQTTClientConfig/isMessagePersistenceEnabled`` is true and there is no
    /// ``MQTTClientConfig/messageStore``, the call opens the file of the messages. Opening the file takes milliseconds
    /// on the calling thread.
    ///
    /// If the configuration has a mistake or the file cannot be opened, every throwing call of the client throws the
    /// error. The event of `connect()` and the log report the error, too. ``validate(_:)`` finds mistakes in the
    /// configuration without a client.
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

    /// Checks a configuration for mistakes, such as contradictory limits, illegal topics, negative times, and fixed
    /// options (``MQTTClientConfig/init(options:)``) that allow no connection.
    ///
    /// The check reads the files of ``MQTTClientConfig/tls``, which may take milliseconds. The check writes nothing,
    /// and opens no connection. Options from the app's provider and certificates from `tls.material` are checked later,
    /// when the client receives them.
    ///
    /// - Parameter config: The configuration.
    /// - Throws: A ``CourierCore/CourierError`` with `invalidConfiguration` that names the option and the remedy.
    public func validate(_ config: MQTTClientConfig) throws {
        _ = try ClientSettings(config)
        _ = try SupervisorConfiguration(config)
        _ = try config.storePlace()
        if let tls = config.tls { try Self.check(tls) }
    }

    /// Checks that the certificates and keys can be loaded.
    private static func check(_ tls: TLSClientConfiguration) throws(CourierError) {
        var tls = tls
        tls.keyLogFile = nil  // Otherwise, this check would create the key log file.
        if tls.material != nil { (tls.material, tls.trust, tls.identity) = (nil, .systemRoots, nil) }
        do throws(TransportError) {
            _ = try TLSContext(client: tls)
        } catch {
            throw CourierError(error)
        }
    }
}

import CourierCore

/// Which servers the client goes to when a broker of MQTT 5 refers it to another one (reason codes 0x9C and 0x9D, with a
/// server reference).
///
/// By default a reference is followed to the same host only, at this or another port, and to the endpoints that the options
/// name (``CourierCore/ConnectOptions/alternatives``) or that service records have led to. Another host has to be allowed:
///
/// ```swift
/// config.endpoints.redirects.allowedHosts = ["eu.broker.example.com": .fromProvider, "us.broker.example.com": .reused]
/// ```
///
/// A connection with TLS is never followed by one without. A reference that is not followed is named, with this option, by
/// the error of the event ``CourierCore/CourierEventType/connectionFailure(timeTaken:error:)`` or
/// ``CourierCore/CourierEventType/connectionLost(timeTaken:error:diffLastInbound:diffLastOutbound:)``. The client then goes
/// on with its own endpoints and its usual pauses.
public struct RedirectPolicy: Hashable, Sendable {
    /// The credentials that an allowed host gets.
    public enum Credentials: Hashable, Sendable {
        /// The provider is asked for them, with the host and port:
        /// ``CourierCore/ConnectionServiceProvider/connectOptions(for:)``. The present ones are not sent.
        case fromProvider

        /// The present options: user name, password, header fields and the data of an extended authentication.
        case reused
    }

    /// How many hosts may be allowed, 1,000.
    public static let limit = 1_000

    /// The further hosts that a reference is followed to, by exact name or address, and the credentials that each gets; none
    /// by default. Upper and lower case are the same; a name does not stand for its subdomains.
    public var allowedHosts: [String: Credentials] = [:]

    /// Whether a reference to the same host is followed; `true` by default. The present credentials are used there.
    public var followsSameHost = true

    /// The defaults.
    public init() {}
}

extension RedirectPolicy {
    /// The policy with host names in normalized form, ready for comparison.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` for too many hosts, and for a text that is no host.
    func checked() throws(CourierError) -> RedirectPolicy {
        guard allowedHosts.count <= Self.limit else {
            throw CourierError(
                .invalidConfiguration,
                "redirects.allowedHosts has \(allowedHosts.count) hosts; at most \(Self.limit) are possible.")
        }
        var checked = self
        checked.allowedHosts = [:]
        for (host, credentials) in allowedHosts {
            do throws(CourierError) {
                checked.allowedHosts[try BrokerHost(host).string.lowercased()] = credentials
            } catch {
                throw CourierError(option: "The option `redirects.allowedHosts`", error)
            }
        }
        return checked
    }

    /// The credentials for a further host; `nil` if it is not allowed.
    func credentials(for host: String) -> Credentials? { allowedHosts[host.lowercased()] }
}

import CourierCore

/// Which server references of an MQTT 5 broker (reason codes 0x9C and 0x9D) the client follows.
///
/// By default it follows a reference to the same host, at any port, and to the endpoints of the options
/// (``CourierCore/ConnectOptions/alternatives``) or of service records. Another host must be allowed:
///
/// ```swift
/// config.endpoints.redirects.allowedHosts = ["eu.broker.example.com": .fromProvider, "us.broker.example.com": .reused]
/// ```
///
/// A reference from TLS to a connection without TLS is never followed. If a reference is not followed, the error of the
/// event ``CourierCore/CourierEventType/connectionFailure(timeTaken:error:)`` or
/// ``CourierCore/CourierEventType/connectionLost(timeTaken:error:diffLastInbound:diffLastOutbound:)`` names it and this
/// option. The client then continues with its own endpoints and its usual pauses.
public struct RedirectPolicy: Hashable, Sendable {
    /// The credentials that are sent to an allowed host.
    public enum Credentials: Hashable, Sendable {
        /// The provider returns the options for this host and port from
        /// ``CourierCore/ConnectionServiceProvider/connectOptions(for:)``. The present credentials are not sent.
        case fromProvider

        /// The present credentials are sent: user name, password, header fields and the data of an extended
        /// authentication.
        case reused
    }

    /// The largest number of allowed hosts, 1,000.
    public static let limit = 1_000

    /// Other hosts to which the client follows a reference, by exact name or address, with the credentials to send to
    /// each; none by default. Letter case does not matter, and a name does not include its subdomains.
    public var allowedHosts: [String: Credentials] = [:]

    /// True if the client follows a reference to the same host, with the present credentials; `true` by default.
    public var followsSameHost = true

    /// Makes a policy with the default values.
    public init() {}
}

extension RedirectPolicy {
    /// Returns the policy with host names in normalized form, ready for comparison.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` if there are too many hosts, or if a text is not a host.
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

    /// Returns the credentials to send to another host; `nil` if the host is not allowed.
    func credentials(for host: String) -> Credentials? { allowedHosts[host.lowercased()] }
}

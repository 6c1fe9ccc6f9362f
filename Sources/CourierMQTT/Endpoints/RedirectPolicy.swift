import CourierCore

/// The rules that decide which redirects of an MQTT 5 broker the client follows. A redirect names another server in the
/// property Server Reference, with reason code 0x9C or 0x9D.
///
/// By default, the client follows a redirect to the hosts of its own endpoints, at any port. These endpoints come from
/// the options (host and ``CourierCore/ConnectOptions/alternatives``) or from DNS service records. Every other host
/// must be allowed, with the credentials that it gets:
///
/// ```swift
/// config.endpoints.redirects.allowedHosts = [
///     "eu.broker.example.com": .fromProvider,  // The provider returns options for this host.
///     "us.broker.example.com": .reused,  // This host gets the current credentials.
/// ]
/// ```
///
/// The client never follows a redirect from TLS to a connection without TLS. If a redirect is not followed, the event
/// ``CourierCore/CourierEventType/connectionFailure(timeTaken:error:)`` or
/// ``CourierCore/CourierEventType/connectionLost(timeTaken:error:diffLastInbound:diffLastOutbound:)`` has an error that
/// names the server and the reason. If an option of this policy would allow the redirect, the error also names this
/// option. The client then continues with its own endpoints and its usual pauses. If the server of a redirect refuses
/// the client id (0x85) or bans the client (0x8A), the client stops.
public struct RedirectPolicy: Hashable, Sendable {
    /// The credentials that are sent to an allowed host.
    public enum Credentials: Hashable, Sendable {
        /// The provider returns the options for this host and port from
        /// ``CourierCore/ConnectionServiceProvider/connectOptions(for:)``. The current credentials are not sent.
        case fromProvider

        /// The current credentials are sent: user name, password, header fields and the data of an extended
        /// authentication.
        case reused
    }

    /// The largest number of allowed hosts, 1,000.
    public static let limit = 1_000

    /// Other hosts to which the client follows a redirect, by exact name or address, with the credentials to send to
    /// each host; none by default. Letter case does not matter. A name does not include its subdomains.
    public var allowedHosts: [String: Credentials] = [:]

    /// True if the client follows a redirect to another port of its own hosts, with the current credentials; `true` by
    /// default. Its own hosts are the hosts of its endpoints. A redirect to one of its own endpoints is always
    /// followed, unless that endpoint has no TLS and the current one has.
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

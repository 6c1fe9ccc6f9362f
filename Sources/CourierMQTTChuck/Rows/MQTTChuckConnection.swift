public import CourierCore
public import Foundation
import MQTTCodec

/// One connection as rows show it: what was asked of it, without the password.
public final class MQTTChuckConnection: Sendable {
    /// Different for every connection in a logger.
    public let id: UInt64

    /// Which connection of its client this is, counted from 1.
    public let ordinal: Int

    /// The client id.
    public let clientID: String

    /// The broker's host.
    public let host: String

    /// The broker's port.
    public let port: UInt16

    /// How the broker is reached, such as `tls`; `nil` when it was left to the client.
    public let scheme: String?

    /// The protocol names offered in the TLS handshake.
    public let alpn: [String]

    /// The protocol that is spoken.
    public let protocolVersion: ObservedConnection.ProtocolVersion

    /// When the connection was opened, in nanoseconds since 1970.
    public let openedNanoseconds: Int64

    init(
        id: UInt64, ordinal: Int, clientID: String, host: String, port: UInt16, scheme: String?, alpn: [String],
        protocolVersion: ObservedConnection.ProtocolVersion, openedNanoseconds: Int64
    ) {
        self.id = id
        self.ordinal = ordinal
        self.clientID = clientID
        self.host = host
        self.port = port
        self.scheme = scheme
        self.alpn = alpn
        self.protocolVersion = protocolVersion
        self.openedNanoseconds = openedNanoseconds
    }

    /// Copies what may be shown. The options themselves are not kept, because they hold the password.
    convenience init(_ connection: ObservedConnection, ordinal: Int) {
        let options = connection.options
        self.init(
            id: connection.id, ordinal: ordinal, clientID: options.clientId, host: options.host.shownHost,
            port: options.port, scheme: options.scheme, alpn: options.alpn ?? [],
            protocolVersion: connection.protocolVersion, openedNanoseconds: Nanoseconds.since1970(connection.openedAt))
    }

    /// When the connection was opened.
    public var openedAt: Date { Nanoseconds.date(openedNanoseconds) }

    /// The protocol as people write it, such as `3.1.1`.
    public var protocolName: String { codecVersion.description }

    /// The same for the codec.
    var codecVersion: ProtocolVersion {
        switch protocolVersion {
        case .v31: .v31
        case .v311: .v311
        case .v5: .v5
        }
    }

    /// Names the client among all where there is no number: two brokers may know the same client id.
    var clientKey: String { "\(host):\(port)/\(clientID)" }
}

extension MQTTChuckConnection: Hashable {
    /// Compares all that is known of both.
    public static func == (left: MQTTChuckConnection, right: MQTTChuckConnection) -> Bool {
        left === right
            || left.id == right.id && left.ordinal == right.ordinal && left.clientKey == right.clientKey
                && left.scheme == right.scheme && left.alpn == right.alpn
                && left.protocolVersion == right.protocolVersion && left.openedNanoseconds == right.openedNanoseconds
    }

    /// Hashes what tells connections apart; a file may give one id to all of its own.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(ordinal)
        hasher.combine(openedNanoseconds)
        hasher.combine(clientID)
        hasher.combine(host)
    }
}

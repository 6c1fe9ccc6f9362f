public import CourierCore
public import Foundation
import MQTTCodec

/// A recorded connection with its address and protocol, without the password.
public final class MQTTChuckConnection: Sendable {
    /// A number that is unique among the connections of a logger.
    public let id: UInt64

    /// The ordinal number of this connection among the connections of its client, counted from 1.
    public let ordinal: Int

    /// The client id.
    public let clientID: String

    /// The broker's host.
    public let host: String

    /// The broker's port.
    public let port: UInt16

    /// The URL scheme of the broker's address, such as `tls`, or `nil` if the app did not set one.
    public let scheme: String?

    /// The ALPN protocol names that the client offers in the TLS handshake.
    public let alpn: [String]

    /// The MQTT version of the connection.
    public let protocolVersion: ObservedConnection.ProtocolVersion

    /// The time at which the connection was opened, in nanoseconds since 1970.
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

    /// Copies the fields that may be shown. The connect options themselves are not stored, because they contain the
    /// password.
    convenience init(_ connection: ObservedConnection, ordinal: Int) {
        let options = connection.options
        self.init(
            id: connection.id, ordinal: ordinal, clientID: options.clientId, host: options.host.shownHost,
            port: options.port, scheme: options.scheme, alpn: options.alpn ?? [],
            protocolVersion: connection.protocolVersion, openedNanoseconds: Nanoseconds.since1970(connection.openedAt))
    }

    /// The time at which the connection was opened.
    public var openedAt: Date { Nanoseconds.date(openedNanoseconds) }

    /// The MQTT version as text, such as `3.1.1`.
    public var protocolName: String { codecVersion.description }

    /// The MQTT version as a value of the codec.
    var codecVersion: ProtocolVersion {
        switch protocolVersion {
        case .v31: .v31
        case .v311: .v311
        case .v5: .v5
        }
    }

    /// Identifies a client by broker and client id, for connections without a client number. The broker is included,
    /// because two brokers may have clients with the same client id.
    var clientKey: String { "\(host):\(port)/\(clientID)" }
}

extension MQTTChuckConnection: Hashable {
    /// Compares all fields of two connections.
    public static func == (left: MQTTChuckConnection, right: MQTTChuckConnection) -> Bool {
        left === right
            || left.id == right.id && left.ordinal == right.ordinal && left.clientKey == right.clientKey
                && left.scheme == right.scheme && left.alpn == right.alpn
                && left.protocolVersion == right.protocolVersion && left.openedNanoseconds == right.openedNanoseconds
    }

    /// Hashes the fields that distinguish connections. The id alone is not enough, because connections in different
    /// files may have the same id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(ordinal)
        hasher.combine(openedNanoseconds)
        hasher.combine(clientID)
        hasher.combine(host)
    }
}

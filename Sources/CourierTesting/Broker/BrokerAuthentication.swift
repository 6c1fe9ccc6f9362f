public import MQTTCodec

/// The clients that a ``BrokerMachine`` accepts.
///
/// Extended authentication (AUTH) is not supported: a CONNECT with an authentication method is refused with 0x8C.
public enum BrokerAuthentication: Sendable {
    /// Accepts all clients.
    case allowAll
    /// Accepts a client that presents the user name and password of one of these accounts. Other clients are refused
    /// with 0x86 (bad user name or password).
    case accounts([Account])
    /// Asks a closure, for example for tokens that expire or accounts that change. The closure returns the reason for a
    /// refusal, or `nil` to accept the client. It receives the CONNECT with its password. It runs on the broker's loop,
    /// so it must not block.
    case check(@Sendable (Connect) -> PacketReasonCode?)
    /// Refuses all clients with this code. If a CONNACK of the client's MQTT version has no such code, the broker sends
    /// the most similar code.
    case refuse(PacketReasonCode)

    /// A user name with its password.
    public struct Account: Sendable {
        /// The user name; it is compared byte for byte.
        public var username: String
        /// The password.
        public var password: SecretBytes

        /// Makes an account.
        public init(username: String, password: SecretBytes) {
            self.username = username
            self.password = password
        }
    }

    /// Returns the reason to refuse the client that sent `connect`; `nil` if the client is accepted.
    func refusal(_ connect: Connect) -> PacketReasonCode? {
        switch self {
        case .allowAll: return nil
        case .refuse(let code): return code.isFailure ? code : .notAuthorized
        case .check(let refusal): return refusal(connect).map { $0.isFailure ? $0 : .notAuthorized }
        case .accounts(let accounts):
            guard let username = connect.username, let password = connect.password else {
                return .badUserNameOrPassword
            }
            let isKnown = accounts.contains {
                $0.username.utf8.elementsEqual(username.utf8) && $0.password == password
            }
            return isKnown ? nil : .badUserNameOrPassword
        }
    }
}

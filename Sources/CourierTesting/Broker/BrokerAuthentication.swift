public import MQTTCodec

/// Whom a ``BrokerMachine`` lets in.
///
/// Extended authentication (AUTH) is not supported: a CONNECT with an authentication method is refused with 0x8C.
public enum BrokerAuthentication: Sendable {
    /// Everybody.
    case allowAll
    /// Whoever presents the user name and password of one of these accounts; others are refused with 0x86.
    case accounts([Account])
    /// Whoever a closure of yours lets in: it answers why not, or `nil`. For tokens that end, say, or accounts that change.
    /// It is called where the broker runs, so it must not block, and gets the CONNECT with its password.
    case check(@Sendable (Connect) -> PacketReasonCode?)
    /// Nobody; a code that the client's version of CONNACK does not have becomes 0x87.
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

    /// Why a client that says `connect` is refused; `nil` lets it in.
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

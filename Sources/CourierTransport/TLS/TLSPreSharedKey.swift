/// A secret key that the client and its peer share, instead of certificates (TLS-PSK).
///
/// ```swift
/// configuration.preSharedKey = TLSPreSharedKey(identity: "meter-7", key: key)
/// ```
///
/// Both sides prove that they have the key, and no certificate is needed. Use a random key of at least 16 bytes: an
/// attacker who records a connection can try short keys offline.
public struct TLSPreSharedKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The name under which the peer knows the key, at most 128 bytes.
    public let identity: String

    /// The secret, 1 to 256 bytes.
    let key: [UInt8]

    /// Makes a pre-shared key from bytes.
    ///
    /// - Parameters:
    ///   - identity: The name under which the peer knows the key, 1 to 128 bytes.
    ///   - key: The secret, 1 to 256 bytes.
    public init(identity: String, key: [UInt8]) {
        self.identity = identity
        self.key = key
    }

    /// Makes a pre-shared key from hexadecimal digits, as in mosquitto's `psk_file`.
    ///
    /// - Parameters:
    ///   - identity: The name under which the peer knows the key, 1 to 128 bytes.
    ///   - hex: The secret: 2 to 512 hexadecimal digits.
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if `hex` is empty or does not consist of pairs of digits.
    public init(identity: String, hex: String) throws(TransportError) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, !digits.isEmpty, digits.count.isMultiple(of: 2) else {
            throw TransportError(
                .invalidConfiguration,
                "a pre-shared key is an even number of hexadecimal digits, such as 00112233aabbccdd")
        }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(identity: identity, key: bytes)
    }

    /// A text with the identity. It never contains the key.
    public var description: String { "pre-shared key of \(identity)" }

    /// Shows the same as ``description``, so that `dump` does not print the key.
    public var customMirror: Mirror { Mirror(self, children: ["identity": identity], displayStyle: .struct) }
}

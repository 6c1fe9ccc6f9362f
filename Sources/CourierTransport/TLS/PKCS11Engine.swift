import COpenSSL
import Synchronization

/// Loads private keys from smart cards, TPMs and security modules with OpenSSL's PKCS#11 engine.
///
/// Each PKCS#11 module is loaded once and stays loaded, because connections use its keys until they end.
final class PKCS11Engine: Sendable {
    private static let engines = Mutex<[String: PKCS11Engine]>([:])

    /// Returns a private key that is in hardware.
    ///
    /// - Parameters:
    ///   - uri: The URI of the key.
    ///   - pin: The PIN of the token; `nil` if the URI contains it.
    ///   - module: The path of the PKCS#11 module; `nil` for the module in OpenSSL's configuration.
    /// - Returns: The key. Its module must stay loaded while the key is used.
    /// - Throws: ``TransportError/Code/badPrivateKeyFile`` if the key cannot be loaded, or
    ///   ``TransportError/Code/wrongPassPhrase`` if the PIN is wrong.
    static func key(_ uri: PKCS11URI, pin: String?, module: String?) throws(TransportError) -> OwnedKey {
        try engines.withLock { engines throws(TransportError) in
            let name = module ?? ""
            if let loaded = engines[name] { return try loaded.key(uri, pin: pin) }
            let engine = try PKCS11Engine(module)
            engines[name] = engine
            return try engine.key(uri, pin: pin)
        }
    }

    /// Safe to share: set once, and used only while ``engines`` is locked.
    private nonisolated(unsafe) let engine: OpaquePointer

    /// The pairs of key and PIN that a token refused. The same pair is not tried again, because a token locks after a
    /// few wrong PINs.
    private let refused = Mutex<[(uri: PKCS11URI, pin: String?)]>([])

    private init(_ module: String?) throws(TransportError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        var failure = COURIER_ENGINE_MISSING
        if let engine = courier_pkcs11_engine(module, &failure) {
            self.engine = engine
            return
        }
        if failure == COURIER_ENGINE_MISSING {
            throw TransportError(
                .badPrivateKeyFile,
                "OpenSSL has no engine for PKCS#11; install it (Debian: libengine-pkcs11-openssl), or keep the key in a file"
            )
        }
        throw TransportError(
            .badPrivateKeyFile,
            "the PKCS#11 module \(module ?? "of OpenSSL's configuration") cannot be loaded: \(TLSErrors.takeText())")
    }

    private func key(_ uri: PKCS11URI, pin: String?) throws(TransportError) -> OwnedKey {
        let pin = pin ?? uri.pin
        guard !refused.withLock({ $0.contains { $0.uri == uri && $0.pin == pin } }) else {
            throw Self.wrongPIN(
                uri, "is not tried again, because a token locks after a few wrong PINs; restart the program to retry")
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        if let key = courier_pkcs11_key(engine, uri.text, pin) { return OwnedKey(takingOver: key) }
        guard courier_err_is_wrong_pin(ERR_peek_error()) == 0 else {
            refused.withLock { $0.append((uri, pin)) }
            throw Self.wrongPIN(uri, "is wrong")
        }
        throw TransportError(
            .badPrivateKeyFile,
            "the PKCS#11 module has no private key \(uri.text): \(TLSErrors.takeText()); "
                + "check the URI\(pin == nil ? " and give the PIN" : "")")
    }

    private static func wrongPIN(_ uri: PKCS11URI, _ what: String) -> TransportError {
        TransportError(.wrongPassPhrase, "the PIN of the private key \(uri.text) \(what)")
    }
}

/// The URI of a key in hardware (RFC 7512), divided into a URI without the PIN and the PIN.
struct PKCS11URI: Sendable, Equatable {
    /// The URI without the PIN.
    let text: String
    /// The PIN from the URI's `pin-value`; `nil` if the URI has none.
    let pin: String?

    /// Parses a URI.
    ///
    /// - Throws: ``TransportError/Code/badPrivateKeyFile`` if the text is not a `pkcs11:` URI.
    init(_ uri: String) throws(TransportError) {
        guard uri.hasPrefix("pkcs11:"), !uri.utf8.contains(0) else {
            throw TransportError(
                .badPrivateKeyFile,
                "a key in hardware has a URI that begins with `pkcs11:`, such as `pkcs11:token=device;object=key`"
            )
        }
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let attributes = parts.count > 1 ? parts[1].split(separator: "&") : []
        let others = attributes.filter { !$0.hasPrefix(Self.pinName) }
        text = others.isEmpty ? String(parts[0]) : "\(parts[0])?\(others.joined(separator: "&"))"
        pin = attributes.first { $0.hasPrefix(Self.pinName) }.map { Self.decoded($0.dropFirst(Self.pinName.count)) }
    }

    private static let pinName = "pin-value="

    /// Decodes percent-encoded bytes, such as `%41`.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

import COpenSSL
import Synchronization

/// OpenSSL's PKCS#11 engine: finds private keys in smart cards, TPMs and security modules.
///
/// Each module is loaded once and stays loaded, because its keys need it until the last connection ends.
final class PKCS11Engine: Sendable {
    private static let engines = Mutex<[String: PKCS11Engine]>([:])

    /// Finds a key.
    ///
    /// - Parameters:
    ///   - uri: The key.
    ///   - pin: What unlocks the token; `nil` if the URI has it.
    ///   - module: The file of the module; `nil` for the one of OpenSSL's configuration.
    /// - Returns: The key, which needs the module as long as it is used.
    /// - Throws: ``TransportError/Code/badPrivateKeyFile`` or ``TransportError/Code/wrongPassPhrase``, with what is missing.
    static func key(_ uri: PKCS11URI, pin: String?, module: String?) throws(TransportError) -> OwnedKey {
        try engines.withLock { engines throws(TransportError) in
            let name = module ?? ""
            if let loaded = engines[name] { return try loaded.key(uri, pin: pin) }
            let engine = try PKCS11Engine(module)
            engines[name] = engine
            return try engine.key(uri, pin: pin)
        }
    }

    /// Safe: set once, and used under the lock of ``engines`` only.
    private nonisolated(unsafe) let engine: OpaquePointer

    /// The keys and PINs that a token has refused.
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
                uri, "is not tried again, because tokens lock after a few wrong ones; restart the program to try it")
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
            "the PKCS#11 module gives no private key \(uri.text): \(TLSErrors.takeText()); check the URI\(pin == nil ? " and give the PIN" : "")"
        )
    }

    private static func wrongPIN(_ uri: PKCS11URI, _ what: String) -> TransportError {
        TransportError(.wrongPassPhrase, "the PIN of the private key \(uri.text) \(what)")
    }
}

/// The name of a key in hardware (RFC 7512), and its PIN apart from it.
struct PKCS11URI: Sendable, Equatable {
    /// The URI without the PIN.
    let text: String
    /// The URI's `pin-value`.
    let pin: String?

    /// Reads a URI.
    ///
    /// - Throws: ``TransportError/Code/badPrivateKeyFile`` if it is not one.
    init(_ uri: String) throws(TransportError) {
        guard uri.hasPrefix("pkcs11:"), !uri.utf8.contains(0) else {
            throw TransportError(
                .badPrivateKeyFile,
                "a key in hardware is named by a URI that begins with `pkcs11:`, such as `pkcs11:token=device;object=key`"
            )
        }
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let attributes = parts.count > 1 ? parts[1].split(separator: "&") : []
        let others = attributes.filter { !$0.hasPrefix(Self.pinName) }
        text = others.isEmpty ? String(parts[0]) : "\(parts[0])?\(others.joined(separator: "&"))"
        pin = attributes.first { $0.hasPrefix(Self.pinName) }.map { Self.decoded($0.dropFirst(Self.pinName.count)) }
    }

    private static let pinName = "pin-value="

    /// Resolves `%41` and the like.
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

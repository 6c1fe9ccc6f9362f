/// A certificate, those that lead to its authority, and its private key.
///
/// ```swift
/// configuration.identity = TLSIdentity(certificateFile: "/etc/device/cert.pem", privateKeyFile: "/etc/device/key.pem")
/// configuration.identity = TLSIdentity(pkcs12: [UInt8](data), passPhrase: "secret")
/// ```
///
/// It is read when a connection needs it, and errors say what is wrong with which file.
public struct TLSIdentity: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Where certificate and key come from.
    enum Source: Sendable, Equatable {
        case files(certificates: String, privateKey: String)
        case memory(certificates: [UInt8], privateKey: [UInt8])
        case pkcs12File(String)
        case pkcs12([UInt8])
        case hardware(certificates: String, uri: String, module: String?)
    }

    let source: Source

    /// What the private key is encrypted with, `nil` if it is not.
    let passPhrase: String?

    /// An identity in two files, PEM or DER.
    ///
    /// - Parameters:
    ///   - certificateFile: The file with the certificate, and behind it, in PEM, those that lead to the authority.
    ///   - privateKeyFile: The file with the private key; may be the same.
    ///   - passPhrase: What the key is encrypted with; `nil` if it is not.
    public init(certificateFile: String, privateKeyFile: String, passPhrase: String? = nil) {
        source = .files(certificates: certificateFile, privateKey: privateKeyFile)
        self.passPhrase = passPhrase
    }

    /// An identity in memory, PEM or DER.
    ///
    /// - Parameters:
    ///   - certificates: The certificate, and behind it, in PEM, those that lead to the authority.
    ///   - privateKey: The private key.
    ///   - passPhrase: What the key is encrypted with; `nil` if it is not.
    public init(certificates: [UInt8], privateKey: [UInt8], passPhrase: String? = nil) {
        source = .memory(certificates: certificates, privateKey: privateKey)
        self.passPhrase = passPhrase
    }

    /// An identity in a PKCS#12 file (`.p12`, `.pfx`), also an old one that is encrypted by RC2.
    ///
    /// - Parameters:
    ///   - pkcs12File: The file.
    ///   - passPhrase: What it is encrypted with; `nil` if it is not.
    public init(pkcs12File: String, passPhrase: String? = nil) {
        source = .pkcs12File(pkcs12File)
        self.passPhrase = passPhrase
    }

    /// An identity in the contents of a PKCS#12 file.
    ///
    /// - Parameters:
    ///   - pkcs12: The contents.
    ///   - passPhrase: What they are encrypted with; `nil` if they are not.
    public init(pkcs12: [UInt8], passPhrase: String? = nil) {
        source = .pkcs12(pkcs12)
        self.passPhrase = passPhrase
    }

    /// An identity whose private key is in hardware, such as a TPM or a smart card, and never leaves it.
    ///
    /// The key is used by OpenSSL's PKCS#11 engine (Debian: `libengine-pkcs11-openssl`). The hardware signs once for each
    /// connection, on the client's event loop.
    ///
    /// ```swift
    /// configuration.identity = TLSIdentity(
    ///     certificateFile: "/etc/device/cert.pem", pkcs11Key: "pkcs11:token=device;object=key", pin: pin,
    ///     module: "/usr/lib/x86_64-linux-gnu/libtpm2_pkcs11.so")
    /// ```
    ///
    /// - Parameters:
    ///   - certificateFile: The file with the certificate, and behind it, in PEM, those that lead to the authority.
    ///   - pkcs11Key: The key's URI (RFC 7512).
    ///   - pin: What unlocks the token; `nil` if it needs no PIN, or if the URI has it.
    ///   - module: The file of the token's PKCS#11 module; `nil` for the one of OpenSSL's configuration, usually p11-kit's.
    public init(certificateFile: String, pkcs11Key: String, pin: String? = nil, module: String? = nil) {
        source = .hardware(certificates: certificateFile, uri: pkcs11Key, module: module)
        passPhrase = pin
    }

    /// The files that it is read from; empty for one in memory.
    public var files: [String] {
        switch source {
        case .files(let certificates, let privateKey): [certificates, privateKey]
        case .pkcs12File(let file): [file]
        case .hardware(let certificates, _, _): [certificates]
        case .memory, .pkcs12: []
        }
    }

    /// The names of the files; never a private key or the pass phrase.
    public var description: String {
        switch source {
        case .files(let certificates, let privateKey): "certificate \(certificates), private key \(privateKey)"
        case .memory: "certificate and private key in memory"
        case .pkcs12File(let file): "PKCS#12 file \(file)"
        case .pkcs12: "PKCS#12 in memory"
        case .hardware(let certificates, let uri, _):
            "certificate \(certificates), private key \((try? PKCS11URI(uri).text) ?? "in hardware")"
        }
    }

    /// Shows the same as ``description``, so that `dump` prints neither a private key nor the pass phrase.
    public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .struct) }
}

/// A certificate, the intermediate certificates up to its authority, and its private key.
///
/// ```swift
/// configuration.identity = TLSIdentity(certificateFile: "/etc/device/cert.pem", privateKeyFile: "/etc/device/key.pem")
/// configuration.identity = TLSIdentity(pkcs12: [UInt8](data), passPhrase: "secret")
/// ```
///
/// The files are read when a connection needs them. An error names the file and the problem.
public struct TLSIdentity: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The location of the certificates and the private key.
    enum Source: Sendable, Equatable {
        case files(certificates: String, privateKey: String)
        case memory(certificates: [UInt8], privateKey: [UInt8])
        case pkcs12File(String)
        case pkcs12([UInt8])
        case hardware(certificates: String, uri: String, module: String?)
    }

    let source: Source

    /// The pass phrase of the private key or the PIN of the hardware token; `nil` if the app has set neither.
    let passPhrase: String?

    /// Makes an identity from two files in PEM or DER.
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the certificate. In a PEM file, the intermediate certificates may follow it.
    ///   - privateKeyFile: The path of the private key. It may be the same file.
    ///   - passPhrase: The pass phrase of the private key; `nil` if the key is not encrypted.
    public init(certificateFile: String, privateKeyFile: String, passPhrase: String? = nil) {
        source = .files(certificates: certificateFile, privateKey: privateKeyFile)
        self.passPhrase = passPhrase
    }

    /// Makes an identity from bytes in PEM or DER.
    ///
    /// - Parameters:
    ///   - certificates: The certificate. In PEM, the intermediate certificates may follow it.
    ///   - privateKey: The private key.
    ///   - passPhrase: The pass phrase of the private key; `nil` if the key is not encrypted.
    public init(certificates: [UInt8], privateKey: [UInt8], passPhrase: String? = nil) {
        source = .memory(certificates: certificates, privateKey: privateKey)
        self.passPhrase = passPhrase
    }

    /// Makes an identity from a PKCS#12 file (`.p12`, `.pfx`). Old files with RC2 encryption are also supported. For
    /// such a file, OpenSSL's legacy provider is loaded. If this provider is missing, the error says how to convert the
    /// file.
    ///
    /// - Parameters:
    ///   - pkcs12File: The path of the file.
    ///   - passPhrase: The pass phrase of the file; `nil` if the file is not encrypted.
    public init(pkcs12File: String, passPhrase: String? = nil) {
        source = .pkcs12File(pkcs12File)
        self.passPhrase = passPhrase
    }

    /// Makes an identity from the contents of a PKCS#12 file.
    ///
    /// - Parameters:
    ///   - pkcs12: The contents of the file.
    ///   - passPhrase: The pass phrase of the contents; `nil` if the contents are not encrypted.
    public init(pkcs12: [UInt8], passPhrase: String? = nil) {
        source = .pkcs12(pkcs12)
        self.passPhrase = passPhrase
    }

    /// Makes an identity whose private key stays in hardware, such as a TPM or a smart card.
    ///
    /// OpenSSL's PKCS#11 engine uses the key (Debian: `libengine-pkcs11-openssl`). The hardware signs once for each
    /// connection, on the client's event loop.
    ///
    /// ```swift
    /// configuration.identity = TLSIdentity(
    ///     certificateFile: "/etc/device/cert.pem", pkcs11Key: "pkcs11:token=device;object=key", pin: pin,
    ///     module: "/usr/lib/x86_64-linux-gnu/libtpm2_pkcs11.so")
    /// ```
    ///
    /// - Parameters:
    ///   - certificateFile: The path of the certificate. In a PEM file, the intermediate certificates may follow it.
    ///   - pkcs11Key: The URI of the key (RFC 7512).
    ///   - pin: The PIN of the token; `nil` if the token needs none, or if the URI contains it.
    ///   - module: The path of the token's PKCS#11 module; `nil` for the module in OpenSSL's configuration, usually
    ///     p11-kit's.
    public init(certificateFile: String, pkcs11Key: String, pin: String? = nil, module: String? = nil) {
        source = .hardware(certificates: certificateFile, uri: pkcs11Key, module: module)
        passPhrase = pin
    }

    /// The paths of the identity's files; empty for an identity in memory.
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

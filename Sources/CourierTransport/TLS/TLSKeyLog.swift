import COpenSSL

/// A file with the secrets of TLS connections, in the key log format of NSS: one line for each secret.
final class TLSKeyLog: Sendable {
    private let file: OwnerOnlyFile

    /// Opens the file, which is created for its owner alone if there is none.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the file cannot be opened, or if others could read it.
    init(appendingTo path: String) throws(TransportError) {
        do throws(OwnerOnlyFile.Refusal) {
            file = try OwnerOnlyFile(appendingTo: path)
        } catch {
            throw TransportError(
                .invalidConfiguration, "the key log file \(path) \(error.problem)", errno: error.errno)
        }
    }

    /// Whether a context's connections hand their secrets to anything. For tests.
    static func observes(_ context: OpaquePointer) -> Bool { SSL_CTX_get_keylog_callback(context) != nil }

    /// Has a context's connections hand their secrets to the key log of their context.
    static func observe(_ context: OpaquePointer) {
        SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let ssl, let line, let owner = courier_ssl_owner(ssl) else { return }
            let session = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
            // A line that cannot be written is lost: the connection does not depend on it.
            session.context.keyLog?.file.append(Array("\(String(cString: line))\n".utf8))
        }
    }
}

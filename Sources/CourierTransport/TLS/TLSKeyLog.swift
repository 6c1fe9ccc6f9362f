import COpenSSL

/// A file with the secrets of TLS connections, in the key log format of NSS: one line for each secret.
final class TLSKeyLog: Sendable {
    private let file: OwnerOnlyFile

    /// Opens the file for appending. A missing file is created with access for its owner only.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the file cannot be opened, or if other users may
    ///   access it.
    init(appendingTo path: String) throws(TransportError) {
        do throws(OwnerOnlyFile.Refusal) {
            file = try OwnerOnlyFile(appendingTo: path)
        } catch {
            throw TransportError(
                .invalidConfiguration, "the key log file \(path) \(error.problem)", errno: error.errno)
        }
    }

    /// Returns true if a callback receives the secrets of a context's connections. Used by tests only.
    static func observes(_ context: OpaquePointer) -> Bool { SSL_CTX_get_keylog_callback(context) != nil }

    /// Makes a context's connections write their secrets to the context's key log.
    static func observe(_ context: OpaquePointer) {
        SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let ssl, let line, let owner = courier_ssl_owner(ssl) else { return }
            let session = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
            // If a line cannot be written, it is lost and the connection continues.
            session.context.keyLog?.file.append(Array("\(String(cString: line))\n".utf8))
        }
    }
}

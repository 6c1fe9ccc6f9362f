import CourierCore
import CourierTransport
import Synchronization

/// Keeps a client's TLS context between connections, so that the next connection can resume a TLS session.
///
/// One cache serves one client, or several clients with the same TLS settings. The cache makes a new context if the
/// application protocols, the app's certificates or a certificate file have changed.
package final class TLSContextCache: Sendable {
    /// A function that makes a TLS context from the settings.
    typealias Make = @Sendable (TLSClientConfiguration) throws(TransportError) -> TLSContext

    /// The settings and files that a context is made from. If both are unchanged, the cache uses the context again.
    private struct Source: Equatable {
        let applicationProtocols: [String]
        let serverName: String?
        let trust: TLSClientConfiguration.Trust
        let identity: TLSIdentity?
        /// Identifies the state of each file; `nil` for a missing file.
        let stamps: [FileStamp?]

        init(_ tls: TLSClientConfiguration) {
            applicationProtocols = tls.applicationProtocols
            serverName = tls.serverName
            trust = tls.trust
            identity = tls.identity
            stamps = tls.files.map { FileStamp(path: $0) }
        }
    }

    /// The state that the lock guards.
    private struct State {
        var kept: (source: Source, context: TLSContext)?
        /// True after a context was made. If a later context cannot be made, the files were probably replaced by wrong
        /// files.
        var hasWorked = false
    }

    private let state = Mutex(State())
    private let make: Make

    /// Makes an empty cache that reads the certificate and key files.
    package convenience init() {
        self.init { (tls: TLSClientConfiguration) throws(TransportError) -> TLSContext in
            try TLSContext(client: tls)
        }
    }

    /// Makes an empty cache. The cache calls `make` to make a TLS context.
    init(make: @escaping Make) { self.make = make }

    /// Returns the TLS context for a plan; `nil` for a plan without TLS. Certificate files that have changed are read,
    /// so this method must not run on an event loop.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` if a file cannot be used, and no context was made before;
    ///   the message names the file and the problem. ``CourierError/Code/secureConnectionFailed`` if a file cannot be
    ///   used, but a context was made before. The same error is thrown if the app's source of certificates failed or
    ///   returned unusable certificates. ``CourierError/Code/connectionFailed`` if the process has no file descriptor
    ///   or memory left to read the files.
    func context(for plan: ConnectPlan) throws(CourierError) -> TLSContext? {
        guard let asked = plan.tls else { return nil }
        let tls: TLSClientConfiguration
        do {
            tls = try asked.settled()
        } catch {
            throw CourierError(
                .secureConnectionFailed,
                "The source of TLS certificates (TLSClientConfiguration.material) has failed. "
                    + "The property `cause` contains an error of the type \(type(of: error)).", cause: error)
        }
        // Take the file stamps, which identify the state of each file, before reading the files. If a file changes
        // during the reading, its stamp differs next time, and the file is read again.
        let source = Source(tls)
        let (present, hasWorked) = state.withLock { ($0.kept, $0.hasWorked) }
        if let present, present.source == source { return present.context }
        do throws(TransportError) {
            // Make the context without holding the lock. Two calls at the same time make two contexts, and the cache
            // stores the context that was made last.
            let context = try make(tls)
            state.withLock {
                $0.kept = (source, context)
                $0.hasWorked = true
            }
            return context
        } catch {
            // Only an error of the kind `configuration` means that a file is wrong. Other errors have other causes,
            // such as too few file descriptors or too little memory.
            let isOfFiles = LossCause.TransportProblem(error.code) == .configuration
            guard isOfFiles, hasWorked || asked.material != nil else { throw CourierError(error) }
            throw CourierError(
                .secureConnectionFailed,
                "\(error.message.asSentence) The TLS material was replaced by material that cannot be used. "
                    + "The next attempt reads the material again.", cause: error)
        }
    }

    /// Makes the next connection read the files again, for example after the broker has refused the client's
    /// certificate.
    func forget() { state.withLock { $0.kept = nil } }
}

import CourierCore
import CourierTransport
import Synchronization

/// Keeps a client's TLS context between connections, so that the next connection can resume a TLS session.
///
/// One cache serves one client. It makes a new context if the application protocols, the app's certificates or a
/// certificate file have changed.
final class TLSContextCache: Sendable {
    /// Makes a context.
    typealias Make = @Sendable (TLSClientConfiguration) throws(TransportError) -> TLSContext

    /// The inputs of a context.
    private struct Source: Equatable {
        let applicationProtocols: [String]
        let serverName: String?
        let trust: TLSClientConfiguration.Trust
        let identity: TLSIdentity?
        /// The stamp of each file; `nil` for a missing file.
        let stamps: [FileStamp?]

        init(_ tls: TLSClientConfiguration) {
            applicationProtocols = tls.applicationProtocols
            serverName = tls.serverName
            trust = tls.trust
            identity = tls.identity
            stamps = tls.files.map { FileStamp(path: $0) }
        }
    }

    private struct State {
        var kept: (source: Source, context: TLSContext)?
        /// Whether a context was made before. A failure then means that a file is being replaced.
        var hasWorked = false
    }

    private let state = Mutex(State())
    private let make: Make

    /// Makes an empty cache. By default, `make` reads the files.
    init(
        make: @escaping Make = { (tls: TLSClientConfiguration) throws(TransportError) -> TLSContext in
            try TLSContext(client: tls)
        }
    ) {
        self.make = make
    }

    /// Returns the context for a plan; `nil` for a plan without TLS. It reads certificate files that have changed, so
    /// it must not run on an event loop.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` that names the file that is wrong and how; for one that has
    ///   been right before, and when the app's source of certificates fails, ``CourierError/Code/secureConnectionFailed``;
    ///   ``CourierError/Code/connectionFailed`` when there is no descriptor or memory left to read them.
    func context(for plan: ConnectPlan) throws(CourierError) -> TLSContext? {
        guard let asked = plan.tls else { return nil }
        let tls: TLSClientConfiguration
        do {
            tls = try asked.settled()
        } catch {
            throw CourierError(
                .secureConnectionFailed,
                "The source of TLS certificates (TLSClientConfiguration.material) has failed with \(type(of: error)), "
                    + "which is the cause of this error.", cause: error)
        }
        // The stamps are taken before the files are read. So a file that changes meanwhile is read again for the next
        // connection.
        let source = Source(tls)
        let (present, hasWorked) = state.withLock { ($0.kept, $0.hasWorked) }
        if let present, present.source == source { return present.context }
        do throws(TransportError) {
            // Without the lock. Two calls at once make two contexts, and the last one is kept.
            let context = try make(tls)
            state.withLock {
                $0.kept = (source, context)
                $0.hasWorked = true
            }
            return context
        } catch {
            // A lack of descriptors or memory does not mean that a file is wrong.
            let isOfFiles = LossCause.TransportProblem(error.code) == .configuration
            guard isOfFiles, hasWorked || asked.material != nil else { throw CourierError(error) }
            throw CourierError(
                .secureConnectionFailed,
                "\(error.message.asSentence) It was replaced by something that can not be used; the next attempt reads "
                    + "it again.", cause: error)
        }
    }

    /// Makes the next connection read the files again, for example after the broker refused the client's certificate.
    func forget() { state.withLock { $0.kept = nil } }
}

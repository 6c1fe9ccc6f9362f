import CourierCore
import CourierTransport
import Synchronization

/// Keeps a client's TLS context between connections, and with it the TLS sessions that the next one may resume.
///
/// One cache serves one client. The context is made anew when something that it was made from has changed: the offered
/// protocols, what the app's source of certificates gives, or a file.
final class TLSContextCache: Sendable {
    /// Makes a context.
    typealias Make = @Sendable (TLSClientConfiguration) throws(TransportError) -> TLSContext

    /// What a context was made from.
    private struct Source: Equatable {
        let applicationProtocols: [String]
        let serverName: String?
        let trust: TLSClientConfiguration.Trust
        let identity: TLSIdentity?
        /// `nil` for a file that is not there.
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
        /// Whether there ever was a context, so that what fails now is a file that is being replaced.
        var hasWorked = false
    }

    private let state = Mutex(State())
    private let make: Make

    /// Reads the files, unless `make` does something else.
    init(
        make: @escaping Make = { (tls: TLSClientConfiguration) throws(TransportError) -> TLSContext in
            try TLSContext(client: tls)
        }
    ) {
        self.make = make
    }

    /// The context for a plan, `nil` for one without TLS. Looks at the files with certificates and reads them if they
    /// have changed, so not on an event loop.
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
        // Before they are read: what changes meanwhile is read again for the next connection.
        let source = Source(tls)
        let (present, hasWorked) = state.withLock { ($0.kept, $0.hasWorked) }
        if let present, present.source == source { return present.context }
        do throws(TransportError) {
            // Outside the lock; two at once make two contexts, and the last is kept.
            let context = try make(tls)
            state.withLock {
                $0.kept = (source, context)
                $0.hasWorked = true
            }
            return context
        } catch {
            // What the machine lacks says nothing of the files.
            let isOfFiles = LossCause.TransportProblem(error.code) == .configuration
            guard isOfFiles, hasWorked || asked.material != nil else { throw CourierError(error) }
            throw CourierError(
                .secureConnectionFailed,
                "\(error.message.asSentence) It was replaced by something that can not be used; the next attempt reads "
                    + "it again.", cause: error)
        }
    }

    /// Reads the files again for the next connection, for example after the broker refused our certificate.
    func forget() { state.withLock { $0.kept = nil } }
}

import CourierCore
import CourierTransport
import Synchronization

/// Keeps a client's TLS context between connections, and with it the TLS sessions that the next one may resume.
///
/// One cache serves one client, whose TLS settings do not change; only the offered protocols may, and then the context
/// is made anew.
final class TLSContextCache: Sendable {
    private struct Kept {
        let applicationProtocols: [String]
        let context: TLSContext
    }

    private let kept = Mutex<Kept?>(nil)

    init() {}

    /// The context for a plan, `nil` for one without TLS. Reads the files with certificates, so not on an event loop.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` that names the file that is wrong and how.
    func context(for plan: ConnectPlan) throws(CourierError) -> TLSContext? {
        guard let tls = plan.tls else { return nil }
        let present = kept.withLock { $0 }
        if let present, present.applicationProtocols == tls.applicationProtocols { return present.context }
        do throws(TransportError) {
            // Outside the lock; two at once make two contexts, and the last is kept.
            let context = try TLSContext(client: tls)
            kept.withLock { $0 = Kept(applicationProtocols: tls.applicationProtocols, context: context) }
            return context
        } catch {
            throw CourierError(error)
        }
    }

    /// Reads the files again for the next connection, for example after the broker refused our certificate.
    func forget() { kept.withLock { $0 = nil } }
}

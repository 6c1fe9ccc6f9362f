import CLinux
import Glibc

/// An operating-system thread that runs one function to its end.
struct LoopThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread named `name`, of which Linux keeps 15 bytes. It never raises SIGPIPE. A priority that the system
    /// does not grant is left out.
    ///
    /// - Throws: ``TransportError`` when the machine has no thread left.
    init(name: String, priority: LoopPriority = .normal, _ body: @escaping @Sendable () -> Void) throws(TransportError)
    {
        final class Start {
            let name: String
            let niceness: Int32
            let body: @Sendable () -> Void
            init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
                self.name = name
                self.niceness = niceness
                self.body = body
            }
        }
        let start = Unmanaged.passRetained(
            Start(
                name: String(name.utf8.prefix(15)) ?? "courier", niceness: priority.niceness, body: body))
        var handle = pthread_t()
        let result = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                courier_name_thread(start.name)
                if start.niceness != 0 { courier_set_thread_niceness(start.niceness) }
                courier_block_sigpipe()
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            throw TransportError.system(result, "no thread could be started")
        }
        self.handle = handle
    }

    /// Waits until the thread has ended. Call it, or ``detach()``, once.
    func join() { pthread_join(handle, nil) }

    /// Lets the thread end by itself.
    func detach() { pthread_detach(handle) }

    /// A number that no other living thread has.
    @inline(__always) static var current: UInt { courier_thread_self() }
}

/// The operating system's words for an error number.
func describe(errno number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return buffer.withUnsafeMutableBufferPointer { space in
        courier_describe_error(number, space.baseAddress, space.count).map { String(cString: $0) } ?? "error \(number)"
    }
}
